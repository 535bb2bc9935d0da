import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: feeds") struct StorageFeedTests {
    typealias Sample = StorageSample

    private func feed(
        _ storage: OpenedStorage, _ zone: ZoneRow, after position: Int64 = 0,
        shares: [RecordName]? = nil, descending: Bool = false, limit: Int = 100
    ) async throws -> [String] {
        try await storage.read { (reader) throws(ServerError) in
            try reader.changes(
                zone.handle, after: position, shares: shares, descending: descending,
                limit: limit
            ).summary
        }
    }

    private func count(
        _ storage: OpenedStorage, _ zone: ZoneRow, after position: Int64 = 0,
        shares: [RecordName]? = nil, limit: Int = 100
    ) async throws -> Int {
        try await storage.read { (reader) throws(ServerError) in
            try reader.countChanges(zone.handle, after: position, shares: shares, limit: limit)
        }
    }

    @Test(
        "a feed has each record once at its last place, and pages of it join",
        arguments: StorageSubject.all)
    func order(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("a", 1), Sample.record("b", 2), Sample.record("c", 3),
        ])
        try await storage.put([Sample.record("a", 4), Sample.tombstone("b", 5)])
        let all = ["c@3", "a@4", "-b@5"]
        #expect(try await feed(storage, zone) == all)
        #expect(try await feed(storage, zone, limit: 2) == ["c@3", "a@4"])
        #expect(try await feed(storage, zone, after: 4) == ["-b@5"])
        #expect(try await feed(storage, zone, after: 5).isEmpty)
        #expect(try await feed(storage, zone, limit: 0).isEmpty)
        #expect(try await feed(storage, zone, descending: true) == all.reversed())
        #expect(
            try await feed(storage, zone, after: 3, descending: true, limit: 1) == ["-b@5"])
        #expect(try await feed(storage, zone, after: 3, descending: true) == ["-b@5", "a@4"])
        #expect(try await count(storage, zone) == 3)
        #expect(try await count(storage, zone, after: 3) == 2)
        #expect(try await count(storage, zone, limit: 2) == 2)
    }

    @Test(
        "whatever reads records stops with the one with which they have enough bytes",
        arguments: StorageSubject.all)
    func bytes(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let large = #"{"t":{"value":"\#(String(repeating: "x", count: 1_000))","type":"STRING"}}"#
        let names = ["a", "b", "c", "d"].map { RecordName($0) }
        try await storage.put(
            zip(["a", "b", "c", "d"], [Int64(1), 2, 3, 4]).map {
                Sample.record($0, $1, fields: large, share: Sample.share)
            })
        let field = FieldName("f")
        try await storage.write { (transaction) throws(ServerError) in
            for name in names {
                try transaction.putIndex(
                    zone.handle, type: Sample.note, name,
                    [IndexEntry(field: field, kind: .value, key: name.bytes)])
            }
        }
        for (bytes, count) in [(1, 1), (1_000, 1), (1_500, 2), (3_000, 3), (1 << 20, 4)] {
            let found = try await storage.read { (reader) throws(ServerError) in
                var scan = IndexScan(type: Sample.note, field: field, kind: .value, limit: 99)
                scan.maximumBytes = bytes
                let first = try reader.records(
                    zone.handle, first: names[...], maximumBytes: bytes)
                var counts = [try reader.scan(zone.handle, scan).count, first.count]
                counts.append(first.found.count)
                counts.append(
                    try reader.records(
                        zone.handle, type: Sample.note, after: nil, descending: false, limit: 99,
                        maximumBytes: bytes
                    ).count)
                for shares in [nil, [Sample.share]] {
                    counts.append(
                        try reader.changes(
                            zone.handle, after: 0, shares: shares, descending: false, limit: 99,
                            maximumBytes: bytes
                        ).count)
                }
                return counts
            }
            #expect(found == [Int](repeating: count, count: 6), "\(bytes) bytes")
        }
        let missing = try await storage.read { (reader) throws(ServerError) in
            try reader.records(
                zone.handle, first: [RecordName("x"), RecordName("a"), RecordName("y")],
                maximumBytes: 1)
        }
        #expect(missing.count == 2)
        #expect(missing.found.count == 1)
    }

    @Test("the feed of shares has their records and what left them", arguments: StorageSubject.all)
    func shares(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([
            Sample.record("mine", 1), Sample.record("a", 2, share: Sample.share),
            Sample.record("b", 3, share: Sample.otherShare),
            Sample.record("c", 4, share: Sample.share),
        ])
        let (one, both) = ([Sample.share], [Sample.share, Sample.otherShare])
        #expect(try await feed(storage, zone, shares: one) == ["a@2", "c@4"])
        #expect(try await feed(storage, zone, shares: both) == ["a@2", "b@3", "c@4"])
        #expect(try await feed(storage, zone, shares: []).isEmpty)
        try await storage.put([Sample.record("a", 5), Sample.tombstone("c", 6)])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putExit(
                zone.handle, share: Sample.share, RecordName("a"), position: 5)
            try transaction.putExit(
                zone.handle, share: Sample.share, RecordName("c"), position: 6)
        }
        #expect(try await feed(storage, zone, shares: one) == ["-a@5", "-c@6"])
        #expect(try await feed(storage, zone, shares: both) == ["b@3", "-a@5", "-c@6"])
        #expect(
            try await feed(storage, zone, shares: both, descending: true, limit: 2)
                == ["-c@6", "-a@5"])
        #expect(try await feed(storage, zone, after: 5, shares: both) == ["-c@6"])
        #expect(try await count(storage, zone, shares: both) == 3)
        #expect(try await count(storage, zone, shares: one) == 2)
        #expect(try await count(storage, zone, shares: both, limit: 2) == 2)
    }

    @Test("a record that comes back is no longer gone", arguments: StorageSubject.all)
    func comesBack(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("a", 1)])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putExit(
                zone.handle, share: Sample.share, RecordName("a"), position: 1)
        }
        #expect(try await feed(storage, zone, shares: [Sample.share]) == ["-a@1"])
        try await storage.put([Sample.record("a", 2, share: Sample.share)])
        #expect(try await feed(storage, zone, shares: [Sample.share]) == ["a@2"])
    }

    @Test(
        "who sees both shares sees a move between them as a change, others as gone or new",
        arguments: StorageSubject.all)
    func moves(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let both = [Sample.share, Sample.otherShare]
        try await storage.put([Sample.record("a", 1, share: Sample.share)])
        try await storage.put([Sample.record("a", 2, share: Sample.otherShare)])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putExit(
                zone.handle, share: Sample.share, RecordName("a"), position: 2)
        }
        #expect(try await feed(storage, zone, shares: [Sample.share]) == ["-a@2"])
        #expect(try await feed(storage, zone, shares: [Sample.otherShare]) == ["a@2"])
        #expect(try await feed(storage, zone, shares: both) == ["a@2"])
        try await storage.put([Sample.tombstone("a", 3)])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putExit(
                zone.handle, share: Sample.otherShare, RecordName("a"), position: 3)
        }
        #expect(try await feed(storage, zone, shares: both) == ["-a@3"])
        #expect(try await feed(storage, zone, shares: [Sample.share]) == ["-a@2"])
        #expect(try await count(storage, zone, shares: both) == 1)
    }

    @Test("a feed over many shares is in order over all its pages", arguments: StorageSubject.all)
    func manyShares(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let shares = (0..<7).map { RecordName("share-\($0)") }
        try await storage.put(
            (1...300).map { position in
                Sample.record(
                    "r\(position)", position, share: shares[Int(position * position) % 7])
            })
        var seen: [String] = []
        var last: Int64 = 0
        while true {
            let start = last
            let page = try await storage.read { (reader) throws(ServerError) in
                try reader.changes(
                    zone.handle, after: start, shares: shares, descending: false, limit: 37)
            }
            guard let end = page.last else { break }
            seen += page.summary
            last = end.position
        }
        #expect(seen == (1...300).map { "r\($0)@\($0)" })
        let newest = try await feed(storage, zone, shares: shares, descending: true, limit: 500)
        #expect(newest == seen.reversed())
        #expect(try await count(storage, zone, shares: shares, limit: 1_000) == 300)
    }

    @Test(
        "where a record has gone is told when its name has another one, of the last few of a name",
        arguments: StorageSubject.all)
    func departures(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        func departures(after position: Int64 = 0, limit: Int = 100) async throws -> [String] {
            try await storage.read { (reader) throws(ServerError) in
                try reader.departures(zone.handle, after: position, limit: limit)
            }.map { "\($0.name)@\($0.position) \($0.target.name)" }
        }
        func tombstone(_ name: String, _ position: Int64, to target: String?) -> StoredRecord {
            var tombstone = Sample.tombstone(name, position)
            tombstone.movedTo = target.map {
                RecordAddress(zone: ZoneName("Z"), type: RecordTypeName("T"), name: RecordName($0))
            }
            return tombstone
        }
        try await storage.put([
            tombstone("a", 1, to: "x"), tombstone("b", 2, to: nil), tombstone("c", 3, to: "y"),
        ])
        #expect(try await departures().isEmpty)
        try await storage.put([Sample.record("a", 4), Sample.record("b", 5)])
        #expect(try await departures() == ["a@1 x"])
        try await storage.put([tombstone("a", 6, to: "z"), Sample.record("c", 7)])
        #expect(try await departures() == ["a@1 x", "c@3 y"])
        try await storage.put([Sample.record("a", 8)])
        #expect(try await departures() == ["a@1 x", "c@3 y", "a@6 z"])
        #expect(try await departures(after: 1, limit: 1) == ["c@3 y"])
        for position in Int64(1)...10 {
            try await storage.put([
                tombstone("a", 10 * position, to: "\(position)"),
                Sample.record("a", 10 * position + 1),
            ])
        }
        #expect(try await departures() == ["c@3 y"] + (3...10).map { "a@\(10 * $0) \($0)" })
        try await storage.put([tombstone("d", 200, to: nil)])
        try await storage.write { (transaction) throws(ServerError) in
            while try transaction.removeTombstones(zone.handle, upTo: 50, limit: 2) {}
        }
        #expect(try await departures() == (6...10).map { "a@\(10 * $0) \($0)" })
    }

    @Test("tombstones and exits go up to the horizon, in portions", arguments: StorageSubject.all)
    func horizon(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put(
            (1...20).map { Sample.tombstone("t\($0)", $0) } + [Sample.record("a", 21)])
        try await storage.write { (transaction) throws(ServerError) in
            for position in Int64(1)...10 {
                try transaction.putExit(
                    zone.handle, share: Sample.share, RecordName("e\(position)"),
                    position: position)
            }
        }
        var calls = 1
        while try await storage.write({ (transaction) throws(ServerError) in
            try transaction.removeTombstones(zone.handle, upTo: 15, limit: 6)
        }) {
            calls += 1
            try #require(calls < 20)
        }
        #expect(calls >= 5)
        #expect(
            try await feed(storage, zone)
                == ["-t16@16", "-t17@17", "-t18@18", "-t19@19", "-t20@20", "a@21"])
        #expect(try await feed(storage, zone, shares: [Sample.share]).isEmpty)
        try await storage.put([Sample.record("t1", 22)])
        #expect(try await feed(storage, zone, after: 21) == ["t1@22"])
    }
}
