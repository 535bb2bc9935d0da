import RecordModel
import RecordWire

/// The fields of a record, decoded, with the references and assets that the storage keeps
/// separately.
struct RecordContent {
    var fields: [WireField]
    /// The references with consequences, in the record's own zone.
    let references: [StoredReference]
    let assets: [WireAsset]

    /// Reads the fields. Errors: BAD_REQUEST for a DELETE_SELF or VALIDATE reference into another
    /// zone.
    init(fields: [WireField], zone: ZoneKey, path: String) throws(ServerError) {
        var references: [StoredReference] = []
        var assets: [WireAsset] = []
        for field in fields {
            for value in field.value?.elements ?? [] {
                switch value {
                case .asset(let asset): assets.append(asset)
                case .reference(let reference) where reference.action != .none:
                    guard reference.isInside(zone) else {
                        throw ServerError(
                            .badRequest,
                            "\(path).fields.\(field.name): a reference with "
                                + "\(reference.action.rawValue) cannot lead into another zone; "
                                + "use NONE.")
                    }
                    references.append(
                        StoredReference(target: reference.name, action: reference.action))
                default: break
                }
            }
        }
        self.fields = fields
        self.references = references
        self.assets = assets
    }

    /// Reads a stored record, whose fields were checked when they were saved.
    init(stored record: StoredRecord, zone: ZoneKey) throws(ServerError) {
        try self.init(
            fields: try FieldsCodec.decode(record.fields), zone: zone,
            path: "record \(record.name)")
    }

    /// Returns the stored fields with those of a request over them: a field without value is
    /// cleared. `replacing` clears the fields that the request does not have.
    static func merge(
        _ stored: [WireField], with given: [WireField], replacing: Bool
    ) -> [WireField] {
        var merged = replacing ? [] : stored
        var places: [FieldName: Int] = [:]
        for (index, field) in merged.enumerated() { places[field.name] = index }
        var cleared: Set<FieldName> = []
        for field in given {
            if field.value == nil {
                cleared.insert(field.name)
            } else if let place = places[field.name] {
                merged[place] = field
            } else {
                merged.append(field)
            }
        }
        return cleared.isEmpty ? merged : merged.filter { !cleared.contains($0.name) }
    }
}

extension WireReference {
    /// Returns whether the target is in this zone. It is when the reference names no zone.
    func isInside(_ key: ZoneKey) -> Bool {
        guard let zone else { return true }
        guard zone.zone == key.zone else { return false }
        return zone.owner == nil || zone.owner == .defaultOwner
            || zone.owner == key.database.owner
    }
}
