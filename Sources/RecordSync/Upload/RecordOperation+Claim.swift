package import RecordModel
import RecordStore
package import RecordStoreSync
package import RecordWire

extension RecordOperation {
    /// The operation for a change. An update sends the fields that have changed since the server
    /// last answered, so that fields which this machine does not know stay unchanged on the server.
    ///
    /// - Parameters:
    ///   - type: the type of the record on the server.
    ///   - schema: the schema of the record's type.
    ///   - hasExtensions: whether the server keeps stamps and the mark of nested JSON.
    ///   - asset: returns the server's description of an asset of a field, with its index in a
    ///     list.
    /// - Returns: nil for a delete whose tag is not known, and while the server lacks an asset.
    package init?(
        _ claim: OutboxClaim, type: RecordTypeName, schema: RecordSchema,
        hasExtensions: Bool = true,
        asset: (FieldName, AssetValue, Int?) -> WireAsset?
    ) {
        var record = RecordDictionary(name: claim.row.name, type: type)
        record.changeTag = claim.base.map { Text($0.changeTag) }
        if hasExtensions { record.movedTo = claim.movedTo }
        guard let document = claim.document else {
            guard claim.base != nil else { return nil }
            self.init(type: .delete, record: record)
            return
        }
        for name in claim.changedFields where !claim.isTaken(name) {
            let value =
                claim.longFields.contains(name) ? document[name]?.emptied : document[name]
            guard
                var field = WireField(name, value, schema, asset: { asset(name, $0, $1) })
            else { return nil }
            if case .json? = document[name] { field.isJSON = true }
            if hasExtensions {
                field.stamp = claim.stamps[name].map { Text($0.text) }
            } else {
                field.leaveOutExtensions(
                    of: document[name], base: claim.baseDocument?[name], schema)
            }
            record.fields.append(field)
        }
        for (twin, value) in claim.twins(hasExtensions: hasExtensions) {
            var field = WireField(name: twin, value: nil, type: .asset)
            if let value {
                guard let known = asset(twin, LongValue.asset(of: value, twin), nil) else {
                    return nil
                }
                field.value = .asset(hasExtensions ? known : known.withoutExtensions)
            }
            record.fields.append(field)
        }
        if document.parent != claim.baseDocument?.parent {
            record.parent = document.parent.map { .record($0) } ?? .cleared
        }
        self.init(type: claim.base == nil ? .create : .update, record: record)
    }
}

extension WireField {
    /// The field on the wire. Nil while the server lacks an asset of the value. No value clears the
    /// field.
    fileprivate init?(
        _ name: FieldName, _ value: FieldValue?, _ schema: RecordSchema,
        asset: (AssetValue, Int?) -> WireAsset?
    ) {
        guard let value else {
            self.init(name: name, value: nil, type: nil)
            return
        }
        guard let wire = WireValue(value, asset: asset) else { return nil }
        let type = value.type ?? schema.type(of: name)
        self.init(name: name, value: wire, type: type == .json ? .string : type)
        if case .json = value { isJSON = true }
    }
}

extension WireField {
    /// Removes the extensions for a server that knows only Apple's keys. A text in a field of JSON
    /// is sent as that text. Every field has its type; a cleared field has the type that it had
    /// before.
    fileprivate mutating func leaveOutExtensions(
        of local: FieldValue?, base: FieldValue?, _ schema: RecordSchema
    ) {
        isJSON = false
        if case .json(.string(let text)) = local { value = .string(text) }
        if value == nil { type = (base?.type ?? schema.type(of: name)).flatMap(\.onWire) }
        switch value {
        case .asset(let asset)?: value = .asset(asset.withoutExtensions)
        case .list(let elements)?:
            value = .list(
                elements.map { element in
                    if case .asset(let asset) = element {
                        .asset(asset.withoutExtensions)
                    } else {
                        element
                    }
                })
        default: break
        }
    }
}

extension FieldType {
    /// The type on the wire. Nil for nested JSON: the type of its field on the server is not known.
    fileprivate var onWire: FieldType? { self == .json ? nil : self }
}

extension WireAsset {
    /// The asset with only the keys that an upload, or a rereference, returned.
    fileprivate var withoutExtensions: WireAsset {
        var asset = self
        (asset.sha256, asset.fileExtension, asset.downloadURL) = (nil, nil, nil)
        return asset
    }
}
