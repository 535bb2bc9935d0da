package import RecordModel

extension JSONValue {
    /// Returns a member that others have written, as a line for a terminal.
    package func shownMember(_ key: String) -> String? { stringMember(key)?.onOneLine }
}

extension String {
    /// The text on one line. Characters that would move the cursor, end the line, send a command to
    /// the terminal or turn the direction of the text are written as `\u{…}`.
    package var onOneLine: String {
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
        // Invisible marks, except those that join letters and pictures.
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
