import RecordModel
import RecordWire

/// All records of a container, in batches, for changes of its schema.
struct ContainerRecords {
    let container: ContainerKey
    let reader: any StorageReader

    private static let batch = 200
    private static let batchBytes = 1 << 20

    func each(
        of type: RecordTypeName, until isEnough: () -> Bool = { false },
        _ body: (ZoneRow, StoredRecord) throws(ServerError) -> Void
    ) throws(ServerError) {
        try eachBatch(of: type, until: isEnough) { zone, records throws(ServerError) in
            for record in records { try body(zone, record) }
        }
    }

    func eachBatch(
        of type: RecordTypeName, until isEnough: () -> Bool = { false },
        _ body: (ZoneRow, [StoredRecord]) throws(ServerError) -> Void
    ) throws(ServerError) {
        for zone in try zones() {
            var after: RecordName?
            while true {
                let records = try reader.records(
                    zone.handle, type: type, after: after, descending: false,
                    limit: Self.batch, maximumBytes: Self.batchBytes)
                try body(zone, records)
                if isEnough() { return }
                guard let last = records.last else { break }
                after = last.name
            }
        }
    }

    /// Returns the zones of the public database and of the databases of all users.
    private func zones() throws(ServerError) -> [ZoneRow] {
        var zones: [ZoneRow] = []
        for owner in [UserName.everyone] + (try reader.users().map(\.name)) {
            zones += try reader.zones(DatabaseKey(container: container, owner: owner))
        }
        return zones
    }
}

extension ContainerSchema {
    /// Makes the index entries of the records of these types by this schema, in the transaction
    /// that stores it, so that no query meets an incomplete index.
    func reindex(
        _ types: [RecordTypeName], _ transaction: any StorageTransaction
    ) throws(ServerError) {
        let records = ContainerRecords(container: container, reader: transaction)
        for type in types {
            try records.eachBatch(of: type) { zone, batch throws(ServerError) in
                var (indexes, entries) = ([IndexKeys](), 0)
                for record in batch {
                    let fields = try FieldsCodec.decode(record.fields)
                    let index = IndexKeys(
                        record.name, type: record.type, indexEntries(record, fields: fields))
                    indexes.append(index)
                    entries += index.entries.count
                    guard entries > IndexKeys.entriesPerCall else { continue }
                    try transaction.putIndexes(zone.handle, indexes)
                    (indexes, entries) = ([], 0)
                }
                try transaction.putIndexes(zone.handle, indexes)
            }
        }
    }
}
