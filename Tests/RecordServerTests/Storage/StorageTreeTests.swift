import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: trees") struct StorageTreeTests {
    typealias Sample = StorageSample
    private static let one = TreeNumber(of: Sample.share)
    private static let two = TreeNumber(.max)

    private static func row(
        _ number: TreeNumber, _ top: String, outer: TreeNumber? = nil, share: RecordName? = nil
    ) -> TreeRow {
        TreeRow(number: number, top: RecordName(top), outer: outer, share: share)
    }

    @Test(
        "a tree comes back as it was put, by its number and by the tree around it",
        arguments: StorageSubject.all)
    func rows(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let other = try await storage.makeZone(Sample.zone("Other"))
        let outer = Self.row(Self.one, "a", share: Sample.share)
        var inner = Self.row(Self.two, "b", outer: Self.one, share: Sample.share)
        for row in [outer, inner] {
            try await storage.write { transaction throws(ServerError) in
                try transaction.putTree(zone.handle, row)
            }
        }
        func found(_ zone: ZoneRow) async throws -> [[TreeRow]] {
            try await storage.read { reader throws(ServerError) in
                [
                    [
                        try reader.tree(zone.handle, Self.one),
                        try reader.tree(zone.handle, Self.two),
                    ].compactMap { $0 }, try reader.trees(zone.handle, inside: Self.one),
                ]
            }
        }
        #expect(try await found(zone) == [[outer, inner], [inner]])
        for (limit, expected) in [(1, 1), (9, 2)] {
            let count = try await storage.read { reader throws(ServerError) in
                try reader.treeCount(zone.handle, share: Sample.share, limit: limit)
            }
            #expect(count == expected)
        }
        #expect(try await found(other) == [[], []])
        (inner.outer, inner.share) = (nil, nil)
        let changed = inner
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTree(zone.handle, changed)
            try transaction.deleteTree(zone.handle, Self.one)
        }
        #expect(try await found(zone) == [[inner], []])
    }

    @Test("a record is a member of the share that its tree has", arguments: StorageSubject.all)
    func share(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("a", 1, share: Sample.share),
            Sample.record("b", 2, parent: "a", share: Sample.share),
        ])
        func shares() async throws -> [RecordName?] {
            try await storage.read { reader throws(ServerError) in
                let found = try reader.records(zone.handle, [RecordName("a"), RecordName("b")])
                return found.sorted { $0.key < $1.key }.map(\.value.share)
            }
        }
        #expect(try await shares() == [Sample.share, Sample.share])
        for share in [Sample.otherShare, nil] {
            // In one transaction: what was read before must not be remembered.
            let read = try await storage.write { transaction throws(ServerError) in
                _ = try transaction.records(zone.handle, [RecordName("a")])
                try transaction.putTree(zone.handle, Self.row(Self.one, "a", share: share))
                return try transaction.records(zone.handle, [RecordName("a")]).values.map(\.share)
            }
            #expect(read == [share])
            #expect(try await shares() == [share, share])
        }
        try await storage.write { transaction throws(ServerError) in
            try transaction.deleteTree(zone.handle, Self.one)
        }
        #expect(try await shares() == [nil, nil])
    }

    @Test(
        "members below a record come by age, in parts, with what they have below them",
        arguments: StorageSubject.all)
    func members(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("a", 1, share: Sample.share), Sample.record("c", 2, parent: "a"),
            Sample.record("b", 3, parent: "a", share: Sample.share),
            Sample.record("d", 4, parent: "b"), Sample.tombstone("e", 5),
        ])
        // A later change makes no record younger.
        try await storage.put([Sample.record("c", 6, parent: "a")])
        func found(_ parent: String, after age: Int64?, limit: Int) async throws -> [TreeMember] {
            try await storage.read { reader throws(ServerError) in
                try reader.treeMembers(
                    zone.handle, below: RecordName(parent), after: age, limit: limit)
            }
        }
        func member(_ name: String) async throws -> TreeMember? {
            try await storage.read { reader throws(ServerError) in
                try reader.treeMember(zone.handle, RecordName(name))
            }
        }
        let all = try await found("a", after: nil, limit: 9)
        #expect(all.map(\.name) == [RecordName("c"), RecordName("b")])
        #expect(all.map(\.tree) == [nil, Self.one] && all.map(\.hasChildren) == [false, true])
        #expect(all.map(\.age) == all.map(\.age).sorted())
        #expect(try await found("a", after: nil, limit: 1) == Array(all.prefix(1)))
        #expect(try await found("a", after: all.first?.age, limit: 9) == Array(all.suffix(1)))
        #expect(try await found("a", after: all.last?.age, limit: 9) == [])
        let top = try #require(try await member("a"))
        #expect(top.tree == Self.one && top.hasChildren)
        #expect(try await member("b") == all.last)
        for name in ["e", "x"] { #expect(try await member(name) == nil) }
    }

    @Test(
        "a record moves with its place, and the note that it has left goes",
        arguments: StorageSubject.all)
    func moves(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let name = RecordName("a")
        try await storage.put([Sample.record("a", 1), Sample.record("b", 2)])
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTestTree(zone.handle, Sample.share)
            try transaction.putExit(zone.handle, share: Sample.share, name, position: 1)
            try transaction.move(
                zone.handle, name, to: Self.one, position: 3, entering: Sample.share)
        }
        /// The share and the place of the record, and the feed of the share.
        func state() async throws -> [String] {
            try await storage.read { reader throws(ServerError) in
                let record = try reader.records(zone.handle, [name])[name]
                let feed = try reader.changes(
                    zone.handle, after: 0, shares: [Sample.share], descending: false, limit: 9)
                return ["\(record?.share?.description ?? "-")", "\(record?.position ?? 0)"]
                    + feed.summary
            }
        }
        #expect(try await state() == ["share-1", "3", "a@3"])
        try await storage.write { transaction throws(ServerError) in
            // A later put of the same transaction must know of the move.
            _ = try transaction.records(zone.handle, [name])
            try transaction.move(zone.handle, name, to: nil, position: nil, entering: nil)
            try transaction.put(zone.handle, Sample.record("a", 4))
        }
        #expect(try await state() == ["-", "4"])
    }

    @Test(
        "work is there until it is taken away, alone or with its tree",
        arguments: StorageSubject.all)
    func work(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        func left() async throws -> TreeWork? {
            try await storage.read { reader throws(ServerError) in
                try reader.treeWork(zone.handle, Self.one)
            }
        }
        let (a, b) = (RecordName("a"), RecordName("b"))
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTreeWork(zone.handle, Self.one, TreeWork(parent: a))
            try transaction.putTreeWork(zone.handle, Self.one, TreeWork(parent: a, after: 7))
            try transaction.putTreeWork(zone.handle, Self.two, TreeWork(parent: b))
        }
        #expect(try await left() == TreeWork(parent: a, after: 7))
        try await storage.write { transaction throws(ServerError) in
            try transaction.removeTreeWork(zone.handle, Self.one, a)
        }
        #expect(try await left() == nil)
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTreeWork(zone.handle, Self.one, TreeWork(parent: a))
            try transaction.deleteTree(zone.handle, Self.one)
        }
        #expect(try await left() == nil)
    }

    @Test(
        "a tree is unfinished while work is left on it or on one inside, at any depth",
        arguments: StorageSubject.all)
    func unfinished(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let numbers = (1...4).map { TreeNumber($0) }
        // Each inside of the one before; the last one stands alone.
        try await storage.write { transaction throws(ServerError) in
            for (index, number) in numbers.enumerated() {
                let outer = (1...2).contains(index) ? numbers[index - 1] : nil
                try transaction.putTree(
                    zone.handle, Self.row(number, "t\(index)", outer: outer))
            }
        }
        func unfinished(_ index: Int) async throws -> TreeNumber? {
            try await storage.read { reader throws(ServerError) in
                try reader.unfinishedTree(zone.handle, in: numbers[index])
            }
        }
        for index in numbers.indices { #expect(try await unfinished(index) == nil) }
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTreeWork(
                zone.handle, numbers[2], TreeWork(parent: RecordName("t2")))
        }
        for index in 0...2 { #expect(try await unfinished(index) == numbers[2]) }
        #expect(try await unfinished(3) == nil)
        try await storage.write { transaction throws(ServerError) in
            try transaction.putTreeWork(
                zone.handle, numbers[0], TreeWork(parent: RecordName("t0")))
            try transaction.removeTreeWork(zone.handle, numbers[2], RecordName("t2"))
        }
        #expect(try await unfinished(0) == numbers[0])
        #expect(try await unfinished(1) == nil)
    }
}
