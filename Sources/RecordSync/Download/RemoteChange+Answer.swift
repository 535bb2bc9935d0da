package import RecordModel
package import RecordStore
package import RecordWire

extension RemoteChange {
    /// What a record of an answer says.
    ///
    /// - Parameters:
    ///   - schema: of the record's type here: it says which texts are nested JSON, where the server
    ///     does not; nil where it does.
    ///   - asset: the local name of an asset, with its place in a list.
    package init(
        _ answer: RecordAnswer, schema: RecordSchema?,
        asset: (FieldName, Int?, WireAsset) -> AssetValue
    ) {
        let fields = answer.fields.compactMap { field -> RecordField? in
            guard let value = field.value else { return nil }
            let isJSON = schema.map { $0.type(of: field.name) == .json } ?? field.isJSON
            return RecordField(
                name: field.name,
                value: FieldValue(value, isJSON: isJSON) { asset(field.name, $1, $0) })
        }
        self.init(
            type: answer.type, name: answer.name,
            operation: .upsert(fields, parent: answer.parent), changeTag: answer.changeTag.string,
            created: answer.created.map { Timestamp($0) },
            createdBy: answer.created?.user.description ?? "",
            modified: answer.modified.map { Timestamp($0) },
            modifiedBy: answer.modified?.user.description ?? "")
        fileText = answer.fileText.map { .text($0.utf8) } ?? .none
        for field in answer.fields {
            stamps[field.name] = field.stamp.flatMap { FieldStamp(text: $0.string) }
        }
    }
}

extension Timestamp {
    fileprivate init(_ stamp: StampAnswer) {
        self = Timestamp(seconds: 0) + .milliseconds(stamp.milliseconds)
    }
}
