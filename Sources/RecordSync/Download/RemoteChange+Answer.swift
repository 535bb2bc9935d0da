package import RecordModel
package import RecordStore
package import RecordWire

extension RemoteChange {
    /// What a record of an answer says.
    ///
    /// - Parameters:
    ///   - schema: of the record's type here: it says what lists are whose elements have no type in the
    ///     answer, and which texts are in a field of JSON, where the server does not; nil where it does.
    ///   - asset: the local name of an asset, with its place in a list.
    package init(
        _ answer: RecordAnswer, schema: RecordSchema?,
        asset: (FieldName, Int?, WireAsset) -> AssetValue
    ) {
        let fields = answer.fields.compactMap { field -> RecordField? in
            let field = schema.map(field.typed(by:)) ?? field
            guard let value = field.value else { return nil }
            let local = FieldValue(value, isJSON: schema == nil && field.isJSON) {
                asset(field.name, $1, $0)
            }
            return RecordField(
                name: field.name,
                value: schema.map { local.inField(of: $0.type(of: field.name)) } ?? local)
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

extension WireField {
    /// What a list without the type of its elements (`LIST`) is by the schema, where it can be that.
    fileprivate func typed(by schema: RecordSchema) -> WireField {
        guard !isTagged, case .list(let element)? = schema.type(of: name) else { return self }
        do throws(ServerError) {
            return try coerced(to: .list(element))
        } catch {
            return self
        }
    }
}

extension FieldValue {
    /// A text stays one in a field of JSON: it is not looked into.
    fileprivate func inField(of type: FieldType?) -> FieldValue {
        if type == .json, case .string(let text) = self { .json(.string(text)) } else { self }
    }
}
