import RecordModel
import RecordServerCore
import RecordWire

/// Keys and rows that the storage tests use.
enum StorageSample {
    static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)
    static let production = ContainerKey(
        container: "iCloud.org.example.app", environment: .production)
    static let alice = UserName("_alice")
    static let bob = UserName("_bob")
    static let carol = UserName("_carol")
    static let database = DatabaseKey(container: container, owner: alice)
    static let zone = ZoneKey(database: database, zone: ZoneName("Work"))
    static let note = RecordTypeName("Note")
    static let share = RecordName("share-1")
    static let otherShare = RecordName("share-2")

    static func zone(_ name: String, of owner: UserName = alice) -> ZoneKey {
        ZoneKey(
            database: DatabaseKey(container: container, owner: owner), zone: ZoneName(name))
    }

    static func record(
        _ name: String, _ position: Int64, type: RecordTypeName = note, fields: String = "{}",
        parent: String? = nil, share: RecordName? = nil
    ) -> StoredRecord {
        var record = StoredRecord(
            name: RecordName(name), type: type, tag: position, position: position,
            fields: Array(fields.utf8),
            created: WriteStamp(milliseconds: 1_000, user: alice, device: "laptop"),
            modified: WriteStamp(milliseconds: 1_000 + position, user: bob, device: "phone"))
        if position % 2 == 1 { record.fileText = "{ }" }
        record.parent = parent.map { RecordName($0) }
        record.share = share
        record.tree = share.map { TreeNumber(of: $0) }
        return record
    }

    static func tombstone(_ name: String, _ position: Int64) -> StoredRecord {
        var record = record(name, position)
        record.fields = []
        record.fileText = nil
        record.isDeleted = true
        return record
    }

    static func names(_ records: [StoredRecord]) -> [String] { records.map(\.name.description) }
}

extension OpenedStorage {
    /// A new zone.
    func makeZone(_ key: ZoneKey = StorageSample.zone) async throws(ServerError) -> ZoneRow {
        try await write { (transaction) throws(ServerError) in
            try transaction.createZone(key, incarnation: SecureRandom.incarnation())
        }
    }

    /// Puts records as they are and moves the zone's position behind them.
    func put(
        _ records: [StoredRecord], in zone: ZoneKey = StorageSample.zone
    ) async throws(ServerError) {
        try await write { (transaction) throws(ServerError) in
            guard var row = try transaction.lockZone(zone) else {
                throw ServerError(.zoneNotFound, "")
            }
            for record in records {
                try transaction.putTestTree(row.handle, record.share)
                try transaction.put(row.handle, record)
            }
            row.position = max(row.position, records.map(\.position).max() ?? 0)
            try transaction.updateZone(row)
        }
    }
}

extension [FeedEntry] {
    /// `name@position`, with a minus sign before what is gone.
    var summary: [String] {
        map {
            switch $0 {
            case .record(let record): "\(record.name)@\(record.position)"
            case .gone(let name, let position): "-\(name)@\(position)"
            }
        }
    }
}
