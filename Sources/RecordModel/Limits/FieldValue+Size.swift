extension FieldValue {
    /// The number of bytes that the value adds to the size of its record. An asset adds nothing.
    package var countedBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .list(let elements): elements.reduce(0) { $0 + $1.countedBytes }
        case .int64, .double, .timestamp: 8
        case .location: 64
        case .reference(let reference):
            reference.name.bytes.count + (reference.zone?.bytes.count ?? 0)
        case .asset: 0
        case .json(let value): value.serialized().count
        }
    }

    /// The largest number of bytes that the value takes in a request. Escapes make a text longer,
    /// and a short reference becomes a long dictionary.
    package var requestBytes: Int {
        switch self {
        case .string(let text): Self.escapedBytes(text.utf8)
        case .bytes(let bytes): bytes.count / 3 * 4 + 6
        case .list(let elements): elements.reduce(2) { $0 + 1 + $1.requestBytes }
        case .int64, .timestamp: 20
        case .double: 25
        case .location: 400
        case .reference(let reference):
            100 + Self.escapedBytes(reference.name.bytes)
                + (reference.zone.map { 60 + Self.escapedBytes($0.bytes) } ?? 0)
        case .asset: Self.assetBytes
        case .json(let value): Self.escapedBytes(value.serialized())
        }
    }

    /// The size of the dictionary of an asset with its receipt, in a request.
    private static let assetBytes = 900

    private static func escapedBytes(_ text: [UInt8]) -> Int {
        text.reduce(2) { total, byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): total + 2
            case 0..<0x20: total + 6
            default: total + 1
            }
        }
    }

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

    /// The elements of a list, or the value itself.
    fileprivate var parts: [FieldValue] {
        if case .list(let elements) = self { elements } else { [self] }
    }
}

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
private struct RecordSizes {
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
