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
        // Marks that nobody sees, but for those that join letters and pictures.
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
