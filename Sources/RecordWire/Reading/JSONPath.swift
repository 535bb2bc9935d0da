import RecordModel

/// The path to a value of a request, as reasons name it: `operations[3].record.fields.photo`.
///
/// It is a chain that is printed only after an error. Keys that are data are cut.
package indirect enum JSONPath: Sendable, CustomStringConvertible {
    case root
    case member(String, of: JSONPath)
    case element(Int, of: JSONPath)

    package var description: String {
        switch self {
        case .root: "the body"
        case .member(let key, .root): key
        case .member(let key, let path): "\(path).\(key)"
        case .element(let index, let path): "\(path)[\(index)]"
        }
    }

    /// Returns a key from outside, short enough for a log and without control characters.
    static func printable(_ key: [UInt8]) -> String {
        String(
            decoding: key.prefix(64).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
    }
}
