import RecordModel
import RecordSQL
import RecordWire
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// What is counted of each quota, held against the sum over all zones.
enum QuotaSums {
    struct Row: Equatable, CustomStringConvertible {
        let owner: String
        let counted: Int64
        let sum: Int64
        var description: String { "\(owner): \(counted), and \(sum) in its zones" }
    }

    static func read(_ storage: SQLiteStorage) throws -> [Row] {
        try storage.database.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT h.owner, h.used_bytes, coalesce(sum(z.record_bytes + z.asset_bytes), 0)
                FROM quota_holders h LEFT JOIN databases d ON d.holder = h.id
                LEFT JOIN zones z ON z.database = d.id AND z.deleted = 0
                GROUP BY h.id ORDER BY h.owner, h.container
                """
            ) {
                Row(owner: $0.string(0), counted: $0.int64(1), sum: $0.int64(2))
            }
        }
    }

    /// Whether every holder has what its zones have; and how many have anything.
    static func check(_ storage: any Storage) throws -> Int {
        let rows = try read(try #require(storage as? SQLiteStorage))
        for row in rows { #expect(row.counted == row.sum, "\(row)") }
        return rows.filter { $0.sum > 0 }.count
    }
}

@Suite("Counters of quotas") struct QuotaCounterTests {
    typealias Sample = StorageSample

    /// Everything that changes what zones have, in any order.
    private func act(
        _ storage: SQLiteStorage, _ random: inout SeededRandom, _ zone: ZoneKey
    ) async throws {
        let (kind, bytes) = (Int.random(in: 0..<12, using: &random), random.next() % 1_000)
        let names = (0..<3).map { _ in "r\(random.next() % 4)" }
        let checksums = names.prefix(Int(random.next() % 3)).map { Text("asset of \($0)") }
        try await storage.write { (transaction) throws(ServerError) in
            for checksum in checksums {
                try transaction.putAsset(
                    AssetRow(
                        database: zone.database, fileChecksum: checksum,
                        sha256: ContentHash(hex: checksum.string), size: 1_000,
                        uploadedMilliseconds: 1))
            }
            var row = try transaction.lockZone(zone)
            if row == nil { row = try transaction.createZone(zone, incarnation: 1) }
            guard var row else { return }
            switch kind {
            case 0: try transaction.deleteZone(row, reason: .deleted)
            case 1: _ = try transaction.sweepDeletedZones(limit: 3)
            case 2: try transaction.erase(zone.database.container, reason: .purged)
            case 3, 4:
                row.position += 1
                try transaction.put(row.handle, Sample.tombstone(names[0], row.position))
                try transaction.updateZone(row)
            default:
                row.position += 1
                row.recordBytes = Int64(bytes)
                try transaction.put(row.handle, Sample.record(names[0], row.position))
                try transaction.updateZone(row)
                try transaction.putAssetReferences(
                    row.handle, [RecordAssets(RecordName(names[0]), checksums)])
            }
            if kind == 11 { throw ServerError(.badRequest, "rolled back") }
        }
    }

    @Test("whatever happens to zones, records and assets, the counter is their sum")
    func random() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        var random = SeededRandom(seed: 4711)
        let zones = [Sample.container, Sample.production].flatMap { container in
            [Sample.alice, Sample.bob, .everyone].flatMap { owner in
                ["a", "b"].map {
                    ZoneKey(
                        database: DatabaseKey(container: container, owner: owner),
                        zone: ZoneName($0))
                }
            }
        }
        var most = 0
        for _ in 0..<600 {
            guard let zone = zones.randomElement(using: &random) else { continue }
            do {
                try await act(storage, &random, zone)
            } catch let error as ServerError {
                #expect(error.code == .badRequest)
            }
            most = max(most, try QuotaSums.check(storage))
        }
        // The users in both containers, and the public databases of each.
        #expect(most == 4)
    }

    @Test("public databases have a counter each, a user one for all containers")
    func holders() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        let databases = [Sample.container, Sample.production].flatMap { container in
            [Sample.alice, .everyone].map { DatabaseKey(container: container, owner: $0) }
        }
        let used = try await storage.write { (transaction) throws(ServerError) in
            for (number, database) in databases.enumerated() {
                var row = try transaction.createZone(
                    ZoneKey(database: database, zone: ZoneName("a")), incarnation: 1)
                row.recordBytes = Int64(1 << number)
                try transaction.updateZone(row)
            }
            return [
                try transaction.usedBytes(.user(Sample.alice)),
                try transaction.usedBytes(.publicDatabase(databases[1])),
                try transaction.usedBytes(.publicDatabase(databases[3])),
                try transaction.usedBytes(.user(Sample.bob)),
            ]
        }
        #expect(used == [5, 2, 8, 0])
    }
}
