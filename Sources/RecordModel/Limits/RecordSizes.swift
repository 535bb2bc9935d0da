extension RecordDocument {
    /// Checks the size of the record.
    ///
    /// Errors: tooLarge, when the values that cannot become assets exceed a limit of the server.
    func checkSize(_ limits: RecordLimits) throws(RecordError) {
        // A value counts at most 8 bytes for each byte of its text (an integer of one digit) and is
        // at most 64 times as long in a request. An asset takes at least 16 bytes of text.
        let isSmall =
            text.count <= limits.recordBytes / 8 && text.count <= limits.requestBytes / 64
            && text.count / 16 <= limits.assets && text.count / 8 <= limits.references
            && text.count / 2 <= limits.listElements
        guard !isSmall else { return }
        var sizes = RecordSizes(self)
        try sizes.checkCounts(limits)
        for size in sizes.movable { sizes.remove(size) }
        if sizes.fit(limits) { return }
        let largest = sizes.fixed.max { $0.counted < $1.counted }
        guard sizes.counted <= limits.recordBytes else {
            throw RecordError(
                .tooLarge,
                "the values have \(sizes.counted) bytes beside texts, bytes and assets, and a record "
                    + "holds at most \(limits.recordBytes) of them; the largest is field "
                    + "\"\(largest?.name.description ?? "")\" with \(largest?.counted ?? 0), make it "
                    + "an asset")
        }
        throw RecordError(
            .tooLarge,
            "the values take \(sizes.inRequest) bytes in a request beside texts and bytes, and a "
                + "request holds at most \(limits.requestBytes); use several records")
    }
}

/// The sizes of all values of a record together.
struct RecordSizes {
    struct Field {
        let name: FieldName
        let counted: Int
        let inRequest: Int

        /// The power of two of the size. Sizes from one power of two to the next count as equal.
        var magnitude: Int { counted.bitWidth - counted.leadingZeroBitCount }
    }

    private(set) var counted = 0
    private(set) var inRequest = 0
    private(set) var elements = 0
    private(set) var references = 0
    private(set) var assets = 0
    private(set) var movable: [Field] = []
    private(set) var fixed: [Field] = []

    init(_ document: RecordDocument) {
        let names = Set(document.fields.map(\.name))
        for field in document.fields {
            let size = Field(
                name: field.name, counted: field.value.countedBytes,
                inRequest: field.value.requestBytes)
            counted += size.counted
            inRequest += size.inRequest + Self.keyBytes + field.name.bytes.count
            let parts = field.value.parts
            if case .list = field.value { elements += parts.count }
            for part in parts {
                switch part {
                case .reference: references += 1
                case .asset: assets += 1
                default: break
                }
            }
            let isMovable =
                field.value.canBeLong && (field.name.twin.map { !names.contains($0) } ?? false)
            if isMovable { movable.append(size) } else { fixed.append(size) }
        }
    }

    /// The size of the keys of a field beside its value.
    private static let keyBytes = 160

    func fit(_ limits: RecordLimits) -> Bool {
        counted <= limits.recordBytes && inRequest <= limits.requestBytes
    }

    /// Checks the numbers of elements, references and assets.
    ///
    /// Errors: tooLarge.
    func checkCounts(_ limits: RecordLimits) throws(RecordError) {
        for (count, most, what) in [
            (elements, limits.listElements, "list elements"),
            (references, limits.references, "references"), (assets, limits.assets, "assets"),
        ] where count > most {
            throw RecordError(
                .tooLarge,
                "the record has \(count) \(what), and a record holds at most \(most); use several "
                    + "records")
        }
    }

    mutating func remove(_ field: Field) {
        counted -= field.counted
        inRequest -= field.inRequest
    }

    static func goesFirst(_ left: Field, _ right: Field) -> Bool {
        left.magnitude == right.magnitude
            ? left.name < right.name : left.magnitude > right.magnitude
    }
}
