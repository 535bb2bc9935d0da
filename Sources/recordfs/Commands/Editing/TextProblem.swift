import RecordModel

/// A problem of a text, in the form that compilers print and editors read.
struct TextProblem {
    /// The file as the user named it.
    let file: String
    let text: [UInt8]
    let error: RecordError
    /// Indicates whether a save accepts the text nevertheless.
    let isWarning: Bool

    init(_ file: String, _ text: [UInt8], _ error: RecordError, isWarning: Bool = false) {
        (self.file, self.text) = (file, text)
        (self.error, self.isWarning) = (error, isWarning)
    }

    private var position: TextPosition? { error.position }

    /// The place and the message: `soup.json:3:14: error: ...`. A problem of the whole text is one
    /// of its first line.
    var line: String {
        let kind = isWarning ? "warning" : "error"
        return "\(file):\(position?.line ?? 1):\(position?.column ?? 1): \(kind): \(error.message)"
    }

    /// The line of the text, and a caret below the place. It is empty without a place.
    var excerpt: String {
        guard let position, position.offset <= text.count else { return "" }
        let newline = UInt8(ascii: "\n")
        let start = text[..<position.offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
        let end = text[position.offset...].firstIndex(of: newline) ?? text.count
        // A long line would hide the caret.
        guard end - start <= Self.longestLine else { return "" }
        let before = String(decoding: text[start..<position.offset], as: UTF8.self)
        let shown = Self.printable(String(decoding: text[start..<end], as: UTF8.self))
        let indent = before.map { $0 == "\t" ? "\t" : " " }.joined()
        return "\(shown)\n\(indent)^\n"
    }

    private static let longestLine = 200

    /// Returns the text without control characters, which could change the terminal.
    private static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map {
                    $0.properties.generalCategory == .control && $0 != "\t" ? "\u{FFFD}" : $0
                }))
    }
}
