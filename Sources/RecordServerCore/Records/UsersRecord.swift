import RecordModel
import RecordWire

/// The record of type `Users` that a user has in the public database of each container that the
/// user uses. It has the user's name and holds the fields that clients give it.
struct UsersRecord: Sendable {
    let user: UserName
    let container: ContainerKey
    let milliseconds: Int64
    /// The incarnation of the zone, for the case that it has to be made.
    private let incarnation = SecureRandom.incarnation()

    init(user: UserName, container: ContainerKey, milliseconds: Int64) {
        self.user = user
        self.container = container
        self.milliseconds = milliseconds
    }

    private var name: RecordName { RecordName(bytes: user.bytes) }
    private var zone: ZoneKey {
        ZoneKey(
            database: DatabaseKey(container: container, owner: .everyone),
            zone: ZoneIdentifier.defaultZone.zone)
    }

    func exists(_ reader: any StorageReader) throws(ServerError) -> Bool {
        guard let row = try reader.zone(zone) else { return false }
        let found = try reader.records(row.handle, [name])
        return found[name].map { !$0.isDeleted } ?? false
    }

    /// Makes the record when it is missing.
    func put(_ transaction: any StorageTransaction) throws(ServerError) {
        guard try !exists(transaction) else { return }
        var row: ZoneRow
        if let known = try transaction.lockZone(zone) {
            row = known
        } else {
            row = try transaction.createZone(zone, incarnation: incarnation)
        }
        row.position += 1
        row.recordCount += 1
        let stamp = WriteStamp(milliseconds: milliseconds, user: user, device: "")
        let record = StoredRecord(
            name: name, type: .users, tag: row.position, position: row.position,
            fields: Array("{}".utf8), created: stamp, modified: stamp)
        row.recordBytes += Int64(record.bytes)
        try transaction.put(row.handle, record)
        let schema = try ContainerSchema.current(container, transaction)
        try transaction.putIndexes(
            row.handle,
            [IndexKeys(name, type: record.type, schema.indexEntries(record, fields: []))])
        try transaction.updateZone(row)
    }
}

extension UsersRecord {
    /// Makes the record of the caller.
    init(of context: OperationContext) throws(ServerError) {
        self.init(
            user: try context.requireUser().name, container: context.container,
            milliseconds: context.milliseconds)
    }
}
