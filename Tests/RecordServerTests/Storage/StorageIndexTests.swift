import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: indexes") struct StorageIndexTests {
    typealias Sample = StorageSample
    private static let field = FieldName("number")

    /// A zone with records named by letter, each with the key given for it.
    private func indexed(
        _ subject: StorageSubject, _ keys: [(String, [UInt8])]
    ) async throws -> (OpenedStorage, ZoneRow) {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put(
            keys.enumerated().map { Sample.record($1.0, Int64($0 + 1)) })
        for (name, key) in keys { try await index(storage, zone, name, [key]) }
        return (storage, zone)
    }

    private func index(
        _ storage: OpenedStorage, _ zone: ZoneRow, _ name: String, _ keys: [[UInt8]],
        kind: IndexEntry.Kind = .value
    ) async throws {
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putIndex(
                zone.handle, type: Sample.note, RecordName(name),
                keys.map { IndexEntry(field: Self.field, kind: kind, key: $0) })
        }
    }

    private func scan(
        _ storage: OpenedStorage, _ zone: ZoneRow, kind: IndexEntry.Kind = .value,
        limit: Int = 100, _ change: (inout IndexScan) -> Void = { _ in }
    ) async throws -> [String] {
        var scan = IndexScan(type: Sample.note, field: Self.field, kind: kind, limit: limit)
        change(&scan)
        let wanted = scan
        return try await storage.read { (reader) throws(ServerError) in
            try reader.scan(zone.handle, wanted).map { "\($0.record.name)\($0.key)" }
        }
    }

    @Test("a scan gives keys byte by byte, with bounds, both ways", arguments: StorageSubject.all)
    func bounds(subject: StorageSubject) async throws {
        let (storage, zone) = try await indexed(
            subject, [("a", [2]), ("b", [1]), ("c", [1, 0]), ("d", [255]), ("e", [128, 7])])
        let all = ["b[1]", "c[1, 0]", "a[2]", "e[128, 7]", "d[255]"]
        #expect(try await scan(storage, zone) == all)
        #expect(try await scan(storage, zone) { $0.ascending = false } == all.reversed())
        #expect(try await scan(storage, zone, limit: 2) == Array(all.prefix(2)))
        #expect(try await scan(storage, zone) { $0.lower = [1, 0] } == Array(all.dropFirst()))
        #expect(try await scan(storage, zone) { $0.upper = [128, 7] } == Array(all.prefix(3)))
        let middle = try await scan(storage, zone) {
            $0.lower = [1, 0]
            $0.upper = [255]
            $0.ascending = false
        }
        #expect(middle == ["e[128, 7]", "a[2]", "c[1, 0]"])
        #expect(try await scan(storage, zone) { $0.upper = [] }.isEmpty)
        #expect(try await scan(storage, zone) { $0.type = RecordTypeName("X") }.isEmpty)
        #expect(try await scan(storage, zone) { $0.field = FieldName("x") }.isEmpty)
        #expect(try await scan(storage, zone, kind: .token).isEmpty)
    }

    @Test(
        "ties are in the order of names, and pages of any size join within them",
        arguments: StorageSubject.all, [true, false])
    func pages(subject: StorageSubject, ascending: Bool) async throws {
        let names = ["d", "b", "e", "a", "c"]
        let (storage, zone) = try await indexed(
            subject, names.map { ($0, [5]) } + [("x", [4]), ("y", [6])])
        var expected = ["x[4]", "a[5]", "b[5]", "c[5]", "d[5]", "e[5]", "y[6]"]
        if !ascending { expected.reverse() }
        for size in 1...8 {
            var seen: [String] = []
            var after: (key: [UInt8], name: RecordName)?
            while true {
                var next = IndexScan(
                    type: Sample.note, field: Self.field, kind: .value, limit: size)
                next.ascending = ascending
                next.lower = [4]
                next.upper = [7]
                next.after = after
                let wanted = next
                let page = try await storage.read { (reader) throws(ServerError) in
                    try reader.scan(zone.handle, wanted)
                }
                guard let last = page.last else { break }
                seen += page.map { "\($0.record.name)\($0.key)" }
                after = (last.key, last.record.name)
            }
            #expect(seen == expected, "pages of \(size)")
        }
    }

    @Test("the far bound holds on every page", arguments: StorageSubject.all)
    func farBound(subject: StorageSubject) async throws {
        let (storage, zone) = try await indexed(
            subject, [("a", [1]), ("b", [2]), ("c", [3]), ("d", [4])])
        let up = try await scan(storage, zone) {
            $0.lower = [2]
            $0.upper = [4]
            $0.after = ([2], RecordName("b"))
        }
        #expect(up == ["c[3]"])
        let down = try await scan(storage, zone) {
            $0.ascending = false
            $0.lower = [2]
            $0.upper = [4]
            $0.after = ([3], RecordName("c"))
        }
        #expect(down == ["b[2]"])
    }

    @Test("new entries replace the old ones, kind by kind", arguments: StorageSubject.all)
    func replace(subject: StorageSubject) async throws {
        let (storage, zone) = try await indexed(subject, [("a", [1]), ("b", [2])])
        try await index(storage, zone, "a", [[9], [9], [8]], kind: .token)
        #expect(try await scan(storage, zone) == ["b[2]"])
        #expect(try await scan(storage, zone, kind: .token) == ["a[8]", "a[9]"])
        try await index(storage, zone, "a", [[8], [7]], kind: .token)
        #expect(try await scan(storage, zone, kind: .token) == ["a[7]", "a[8]"])
        try await index(storage, zone, "a", [])
        #expect(try await scan(storage, zone, kind: .token).isEmpty)
        try await index(storage, zone, "a", [[3]])
        #expect(try await scan(storage, zone) == ["b[2]", "a[3]"])
    }

    @Test(
        "a deleted record is in no index, nor is it when it comes back",
        arguments: StorageSubject.all)
    func deleted(subject: StorageSubject) async throws {
        let (storage, zone) = try await indexed(subject, [("a", [1]), ("b", [2])])
        try await storage.put([Sample.tombstone("a", 3)])
        #expect(try await scan(storage, zone) == ["b[2]"])
        try await storage.put([Sample.record("a", 4, type: RecordTypeName("Other"))])
        #expect(try await scan(storage, zone) == ["b[2]"])
    }

    @Test(
        "a record and its entries are written in one transaction, over and over",
        arguments: StorageSubject.all)
    func together(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        for round in Int64(1)...3 {
            try await storage.write { (transaction) throws(ServerError) in
                for step in Int64(0)..<2 {
                    let key = UInt8(round * 10 + step)
                    try transaction.put(zone.handle, Sample.record("a", round * 2 + step))
                    try transaction.putIndex(
                        zone.handle, type: Sample.note, RecordName("a"),
                        [IndexEntry(field: Self.field, kind: .value, key: [key])])
                    try transaction.putReferences(
                        zone.handle, from: RecordName("a"),
                        [StoredReference(target: RecordName("t\(key)"), action: .validate)])
                }
            }
            #expect(try await scan(storage, zone) == ["a[\(round * 10 + 1)]"])
            let sources = try await storage.read { (reader) throws(ServerError) in
                try (0...40).map { (number) throws(ServerError) in
                    try reader.sources(
                        zone.handle, of: RecordName("t\(number)"), action: .validate, limit: 9
                    ).count
                }.reduce(0, +)
            }
            #expect(sources == 1)
        }
    }
}
