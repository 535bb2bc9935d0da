import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: former states") struct StorageFormerTests {
    typealias Sample = StorageSample

    private func former(
        _ name: String, _ tag: Int64, endedAt position: Int64, milliseconds: Int64 = 10,
        isDeletion: Bool = false
    ) -> FormerRecord {
        var record = Sample.record(name, tag, fields: #"{"a":{"value":"é","type":"STRING"}}"#)
        record.parent = RecordName("root")
        record.fileText = "{ }"
        record.gesture = "made"
        record.modified = WriteStamp(milliseconds: -5, user: Sample.carol, device: "laptop")
        let replaced = WriteStamp(milliseconds: milliseconds, user: Sample.bob, device: "")
        return FormerRecord(
            record, endedAt: position, by: replaced, gesture: isDeletion ? nil : "ended",
            isDeletion: isDeletion)
    }

    private func read(
        _ storage: OpenedStorage, _ zone: ZoneHandle, _ name: String? = nil, before: Int64? = nil,
        limit: Int = 100, maximumBytes: Int = .max
    ) async throws -> [FormerRecord] {
        try await storage.read { (reader) throws(ServerError) in
            try reader.formerRecords(
                zone, of: name.map { RecordName($0) }, before: before, limit: limit,
                maximumBytes: maximumBytes)
        }
    }

    @Test("a state comes back as it was put, the newest first", arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let states = [
            former("a", 1, endedAt: 3), former("b", 2, endedAt: 4),
            former("a", 3, endedAt: 5, isDeletion: true),
        ]
        try await storage.write { (transaction) throws(ServerError) in
            for state in states { try transaction.putFormer(zone.handle, state, keeping: 10) }
        }
        #expect(try await read(storage, zone.handle) == states.reversed())
        #expect(try await read(storage, zone.handle, "a") == [states[2], states[0]])
        #expect(try await read(storage, zone.handle, "a", before: 5) == [states[0]])
        #expect(try await read(storage, zone.handle, before: 5, limit: 1) == [states[1]])
        #expect(try await read(storage, zone.handle, maximumBytes: 1) == [states[2]])
        #expect(try await read(storage, zone.handle, "c").isEmpty)
    }

    @Test(
        "only the newest states of a name are kept, and none that ended too long ago",
        arguments: StorageSubject.all)
    func bounds(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.write { (transaction) throws(ServerError) in
            for number in 1...6 as ClosedRange<Int64> {
                let state = former(
                    number == 2 ? "b" : "a", number, endedAt: 10 + number, milliseconds: number)
                try transaction.putFormer(zone.handle, state, keeping: 3)
            }
        }
        #expect(try await read(storage, zone.handle).map(\.position) == [16, 15, 14, 12])
        var rounds = 0
        while try await storage.write({ (transaction) throws(ServerError) in
            try transaction.removeFormerRecords(before: 5, limit: 1)
        }) { rounds += 1 }
        #expect(rounds == 2)
        #expect(try await read(storage, zone.handle).map(\.position) == [16, 15])
    }
}
