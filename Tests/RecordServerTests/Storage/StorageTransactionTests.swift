import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: transactions") struct StorageTransactionTests {
    typealias Sample = StorageSample

    /// Appends `count` records in one transaction, as an honest writer does: the positions are
    /// given inside it.
    private static func append(
        _ storage: OpenedStorage, _ count: Int, writer: Int, round: Int, failing: Bool = false
    ) async throws(ServerError) {
        try await storage.write { (transaction) throws(ServerError) in
            guard var zone = try transaction.lockZone(Sample.zone) else {
                throw ServerError(.zoneNotFound, "")
            }
            for number in 0..<count {
                zone.position += 1
                zone.recordCount += 1
                let name = "w\(writer)-r\(round)-\(number)"
                try transaction.put(zone.handle, Sample.record(name, zone.position))
                try transaction.putIndex(
                    zone.handle, type: Sample.note, RecordName(name),
                    [IndexEntry(field: FieldName("f\(writer)"), kind: .value, key: [1])])
            }
            try transaction.updateZone(zone)
            if failing { throw ServerError(.conflict, "wanted") }
        }
    }

    @Test("a body that throws leaves nothing, and its error arrives", arguments: StorageSubject.all)
    func throwing(subject: StorageSubject) async throws {
        let storage = try subject.open()
        _ = try await storage.makeZone()
        let error = await #expect(throws: ServerError.self) {
            try await Self.append(storage, 3, writer: 0, round: 0, failing: true)
        }
        #expect(error == ServerError(.conflict, "wanted"))
        // What the body named first is not taken for stored afterwards.
        try await Self.append(storage, 1, writer: 1, round: 0)
        let (zone, feed) = try await storage.read { (reader) throws(ServerError) in
            let zone = try reader.zone(Sample.zone)
            return (
                zone,
                try zone.map { (zone) throws(ServerError) in
                    try reader.changes(
                        zone.handle, after: 0, shares: nil, descending: false, limit: 10)
                } ?? []
            )
        }
        #expect(zone?.position == 1)
        #expect(feed.summary == ["w1-r0-0@1"])
    }

    @Test(
        "a body sees what it wrote, and readers do not before the commit",
        arguments: StorageSubject.all)
    func isolation(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let seen = try await storage.write { (transaction) throws(ServerError) in
            try transaction.put(zone.handle, Sample.record("a", 1))
            return try transaction.records(zone.handle, [RecordName("a")]).count
        }
        #expect(seen == 1)
    }

    @Test(
        "a reader sees no gap and no order but that of the positions while writers commit",
        arguments: StorageSubject.all)
    func gapless(subject: StorageSubject) async throws {
        let storage = try subject.open()
        _ = try await storage.makeZone()
        let (writers, rounds, batch) = (8, 12, 5)
        let total = Int64(writers * rounds * batch)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for round in 0..<rounds {
                        // Every third one is thrown away, amid those that are kept.
                        if round % 3 == 0 {
                            await #expect(throws: ServerError.self) {
                                try await Self.append(
                                    storage, batch, writer: writer, round: 100 + round,
                                    failing: true)
                            }
                        }
                        try await Self.append(storage, batch, writer: writer, round: round)
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask { try await Self.follow(storage, to: total) }
            }
            try await group.waitForAll()
        }
        let (zone, names) = try await storage.read { (reader) throws(ServerError) in
            let zone = try reader.zone(Sample.zone)
            guard let handle = zone?.handle else { return (zone, [] as [String]) }
            return (
                zone,
                Sample.names(
                    try reader.records(
                        handle, type: Sample.note, after: nil, descending: false,
                        limit: .max))
            )
        }
        #expect(zone?.position == total)
        #expect(zone?.recordCount == total)
        #expect(names.count == Int(total))
        #expect(!names.contains { $0.contains("-r10") && !$0.contains("-r10-") })
    }

    /// Reads the feed from the start, page by page, until it has seen position `end`.
    private static func follow(_ storage: OpenedStorage, to end: Int64) async throws {
        var last: Int64 = 0
        while last < end {
            let start = last
            let (page, position, later) = try await storage.read {
                (reader) throws(ServerError) in
                guard let zone = try reader.zone(Sample.zone) else {
                    throw ServerError(.zoneNotFound, "")
                }
                let page = try reader.changes(
                    zone.handle, after: start, shares: nil, descending: false, limit: 7)
                return (page, zone.position, try reader.zone(Sample.zone)?.position)
            }
            #expect(position == later, "a read is one point in time")
            let expected = Array(start + 1..<start + 1 + Int64(page.count))
            #expect(page.map(\.position) == expected)
            #expect(page.count == min(7, Int(position - start)), "the zone says how far it goes")
            last += Int64(page.count)
        }
    }

    @Test(
        "names of types, fields and users from a body that threw do not come up again",
        arguments: StorageSubject.all)
    func names(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        for round in 0..<3 {
            await #expect(throws: ServerError.self) {
                try await storage.write { (transaction) throws(ServerError) in
                    try transaction.put(
                        zone.handle,
                        Sample.record("x", 1, type: RecordTypeName("Lost\(round)")))
                    throw ServerError(.conflict, "")
                }
            }
            let record = Sample.record(
                "a\(round)", Int64(round + 1), type: RecordTypeName("Kept\(round)"))
            try await storage.put([record])
            let found = try await storage.read { (reader) throws(ServerError) in
                try reader.records(zone.handle, [record.name])
            }
            #expect(found[record.name] == record)
        }
    }
}
