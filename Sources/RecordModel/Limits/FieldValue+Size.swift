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

    /// The elements of a list, or the value itself.
    var parts: [FieldValue] {
        if case .list(let elements) = self { elements } else { [self] }
    }
}
