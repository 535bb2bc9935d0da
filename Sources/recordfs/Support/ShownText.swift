import RecordControl
import RecordModel

extension JSONValue {
    /// A member that others have written, as a line on a terminal shows it.
    func shownMember(_ key: String) -> String? { stringMember(key)?.onOneLine }
}

extension String {
    /// With what would move the cursor, end the line, give a terminal an order or turn the direction of the
    /// text written as `\u{…}`.
    var onOneLine: String {
        unicodeScalars.reduce(into: "") { line, scalar in
            if scalar.isOrder {
                line += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isOrder: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
        }
    }
}
