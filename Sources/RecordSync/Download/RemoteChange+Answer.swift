package import RecordModel
package import RecordStore
package import RecordWire

extension RemoteChange {
    /// Makes a change from a record of an answer.
    ///
    /// - Parameters:
    ///   - type: the type of the record on this machine.
    ///   - schema: the local schema of the record's type, for a server that does not send types: it
    ///     gives the type of lists whose elements have no type in the answer, and it says which
    ///     texts are in a field of JSON. Nil when the server sends these types.
    ///   - asset: returns the local name of an asset, with its index in a list.
    package init(
        _ answer: RecordAnswer, type: RecordTypeName, schema: RecordSchema?,
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
            type: type, name: answer.name,
            operation: .upsert(fields, parent: answer.parent), changeTag: answer.changeTag.string,
            created: answer.created.map { Timestamp($0) },
            createdBy: answer.created?.user.description ?? "",
            modified: answer.modified.map { Timestamp($0) },
            modifiedBy: answer.modified?.user.description ?? "")
        origin = answer.gesture.flatMap(GestureOrigin.init(_:))
        fileText = answer.fileText.map { .text($0.utf8) } ?? .none
        for field in answer.fields {
            stamps[field.name] = field.stamp.flatMap { FieldStamp(text: $0.string) }
        }
    }
}

extension RecordAnswer {
    /// The values that tell the entity and the version of the record.
    var objectMark: ObjectMark {
        var (entity, version): (FieldValue?, FieldValue?)
        for field in fields {
            switch (field.name, field.value) {
            case (StoreModel.entityField, .string(let name)): entity = .string(name)
            case (StoreModel.versionField, .int64(let number)): version = .int64(number)
            default: break
            }
        }
        return ObjectMark(entity: entity, version: version)
    }
}

extension Timestamp {
    fileprivate init(_ stamp: StampAnswer) {
        self = Timestamp(seconds: 0) + .milliseconds(stamp.milliseconds)
    }
}

extension WireField {
    /// Returns the field with the type that the schema gives to a list without an element type
    /// (`LIST`), where the list can have that type.
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
    /// Returns the value for a field of this type. A text in a field of JSON stays a text: its
    /// content is not parsed.
    fileprivate func inField(of type: FieldType?) -> FieldValue {
        if type == .json, case .string(let text) = self { .json(.string(text)) } else { self }
    }
}
