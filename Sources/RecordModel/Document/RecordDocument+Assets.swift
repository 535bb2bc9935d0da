extension RecordDocument {
    /// Returns the document with the hash and the size of the assets that the text names without a
    /// hash, as far as they are known. The text stays the same.
    ///
    /// Complete both documents before you compare them: without hashes, different bytes under one
    /// name are equal.
    ///
    /// - Parameter known: returns the hash and size of the field's asset, or of the element at a
    ///   place of a list.
    package func completed(
        _ known: (FieldName, Int?) throws(RecordError) -> (hash: ContentHash, size: Int64)?
    ) throws(RecordError) -> RecordDocument {
        guard fields.contains(where: { $0.value.lacksHash }) else { return self }
        var document = self
        for (place, field) in fields.enumerated() where field.value.lacksHash {
            document.fields[place] = RecordField(
                name: field.name,
                value: try field.value.completed { (index) throws(RecordError) in
                    try known(field.name, index)
                })
        }
        return document
    }
}

extension FieldValue {
    fileprivate var lacksHash: Bool {
        switch self {
        case .asset(let asset): asset.sha256 == nil
        case .list(let elements): elements.contains(where: \.lacksHash)
        default: false
        }
    }

    fileprivate func completed(
        at place: Int? = nil,
        _ known: (Int?) throws(RecordError) -> (hash: ContentHash, size: Int64)?
    ) throws(RecordError) -> FieldValue {
        switch self {
        case .asset(let asset) where asset.sha256 == nil:
            guard let (hash, size) = try known(place) else { return self }
            return .asset(AssetValue(fileName: asset.fileName, size: size, sha256: hash))
        case .list(let elements):
            var completed: [FieldValue] = []
            for (index, element) in elements.enumerated() {
                completed.append(try element.completed(at: index, known))
            }
            return .list(completed)
        default: return self
        }
    }
}
