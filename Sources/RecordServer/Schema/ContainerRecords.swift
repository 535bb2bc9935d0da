import RecordModel
import RecordWire

/// All records of a container, in batches, for changes of its schema.
struct ContainerRecords {
    let container: ContainerKey
    let reader: any StorageReader

    private static let batch = 200

    func each(
        of type: RecordTypeName, until isEnough: () -> Bool = { false },
        _ body: (ZoneRow, StoredRecord) throws(ServerError) -> Void
    ) throws(ServerError) {
        for zone in try zones() {
            var after: RecordName?
            while true {
                let records = try reader.records(
                    zone.handle, type: type, after: after, descending: false, limit: Self.batch)
                for record in records { try body(zone, record) }
                if isEnough() { return }
                guard let last = records.last, records.count == Self.batch else { break }
                after = last.name
            }
        }
    }

    /// The public database and those of all users.
    private func zones() throws(ServerError) -> [ZoneRow] {
        var zones: [ZoneRow] = []
        for owner in [UserName.everyone] + (try reader.users().map(\.name)) {
            zones += try reader.zones(DatabaseKey(container: container, owner: owner))
        }
        return zones
    }
}

extension ContainerSchema {
    /// Gives the records of these types their index entries by this schema, in the transaction
    /// that stores it: no query meets an index that is not complete.
    func reindex(
        _ types: [RecordTypeName], _ transaction: any StorageTransaction
    ) throws(ServerError) {
        let records = ContainerRecords(container: container, reader: transaction)
        for type in types {
            try records.each(of: type) { zone, record throws(ServerError) in
                let fields = try FieldsCodec.decode(record.fields)
                try transaction.putIndex(
                    zone.handle, type: record.type, record.name,
                    indexEntries(record, fields: fields))
            }
        }
    }
}
