/// The type of a field in the schema, with the names of the CloudKit schema language.
package indirect enum FieldType: Hashable, Sendable {
    case string
    case int64
    case double
    case timestamp
    case bytes
    case location
    case reference
    case asset
    /// An extension: nested JSON in the file, a STRING on the wire.
    case json
    /// A list of one of the other types except `json` and `list`.
    case list(FieldType)

    package static let scalars: [FieldType] = [
        .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .json,
    ]

    /// The name in the schema language, such as `STRING` or `LIST<STRING>`.
    package var name: String {
        switch self {
        case .string: "STRING"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .timestamp: "TIMESTAMP"
        case .bytes: "BYTES"
        case .location: "LOCATION"
        case .reference: "REFERENCE"
        case .asset: "ASSET"
        case .json: "JSON"
        case .list(let element): "LIST<\(element.name)>"
        }
    }

    package init?(name: some StringProtocol) {
        if let scalar = FieldType.scalars.first(where: { $0.name == name }) {
            self = scalar
            return
        }
        guard name.hasPrefix("LIST<"), name.hasSuffix(">"),
            let element = FieldType(name: name.dropFirst(5).dropLast()), element.canBeListed
        else { return nil }
        self = .list(element)
    }

    /// Indicates whether the schema language has lists of the type.
    package var canBeListed: Bool {
        switch self {
        case .json, .list: false
        default: true
        }
    }
}
