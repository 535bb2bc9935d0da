extension RecordDocument {
    /// Returns the fields whose values are in assets on the wire, because the record would exceed
    /// the limit of the server with them.
    ///
    /// Each such value is in the asset field `NAME_ckAsset`, while `NAME` itself is empty there, in
    /// the way of Core Data (Apple, "Reading CloudKit Records for Core Data").
    ///
    /// The result depends only on the values, so that all machines find the same fields. The
    /// largest values are moved first. Values within one power of two are in the order of their
    /// names: an edit that leaves a value about as long as it was moves no other value.
    package func longFields(_ limits: RecordLimits = .standard) -> Set<FieldName> {
        guard text.count > limits.recordBytes / 8 || text.count > limits.requestBytes / 64 else {
            return []
        }
        var sizes = RecordSizes(self)
        guard !sizes.fit(limits) else { return [] }
        var long: Set<FieldName> = []
        for size in sizes.movable.sorted(by: RecordSizes.goesFirst) where !sizes.fit(limits) {
            long.insert(size.name)
            sizes.remove(size)
        }
        return long
    }
}

extension FieldValue {
    /// Indicates whether the value can be sent in an asset: a text, bytes, or nested JSON, which is
    /// a text on the wire. Elements of lists cannot.
    package var canBeLong: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .bytes(let bytes): !bytes.isEmpty
        case .json: true
        case .int64, .double, .timestamp, .location, .reference, .asset, .list: false
        }
    }

    /// The content of the asset of a long value. It is nil for a value that cannot be long.
    package var longBytes: [UInt8]? {
        switch self {
        case .string(let text): text.utf8
        case .bytes(let bytes): bytes
        case .json(let value): value.serialized()
        case .int64, .double, .timestamp, .location, .reference, .asset, .list: nil
        }
    }
}

extension FieldName {
    private static let twinEnding = Array("_ckAsset".utf8)

    /// The name of the asset field that holds a long value of this field. It is nil when that name
    /// would be too long.
    package var twin: FieldName? {
        let name = FieldName(bytes: bytes + Self.twinEnding)
        return name.isValid ? name : nil
    }

    /// The field whose long values this asset field holds, judged by its name. It is nil for other
    /// names.
    package var field: FieldName? {
        guard bytes.count > Self.twinEnding.count,
            bytes[(bytes.count - Self.twinEnding.count)...].elementsEqual(Self.twinEnding)
        else { return nil }
        return FieldName(bytes: Array(bytes.dropLast(Self.twinEnding.count)))
    }
}
