import RecordModel
import RecordStore
import RecordStoreSync

extension StoreFixture {
    @discardableResult
    func upsert(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue>, parent: String? = nil,
        type: String = "Note", tag: String = "r1"
    ) throws(RecordError) -> RemoteResult {
        let fields = fields.map { RecordField(name: FieldName($0.key), value: $0.value) }
        let change = RemoteChange(
            type: RecordTypeName(type), name: RecordName(name),
            operation: .upsert(fields, parent: parent.map { RecordName($0) }), changeTag: tag,
            modifiedBy: "_other")
        return try write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(change, in: self.zone.id)
        }
    }

    @discardableResult
    func remoteDelete(_ name: String) throws(RecordError) -> RemoteResult {
        let change = RemoteChange(deleted: RecordName(name))
        return try write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(change, in: self.zone.id)
        }
    }
}
