import RecordControl

/// The colours of a terminal, as git and ls use them.
enum Colour: String {
    case removed = "31"
    case added = "32"
    case token = "33"
    case place = "36"
    case header = "1"

    /// Indicates whether standard output shows colours: a terminal, unless NO_COLOR is set (no-color.org).
    static let isOn =
        Terminal.outputIsTerminal && environmentVariable("NO_COLOR") == nil
        && environmentVariable("TERM") != "dumb"

    /// Returns the number of characters that are seen of a text, which may be coloured as a whole.
    static func visibleCount(_ text: String) -> Int {
        guard text.hasPrefix("\u{1B}[") else { return text.count }
        return text.drop { $0 != "m" }.dropFirst().prefix { $0 != "\u{1B}" }.count
    }

    func of(_ text: String) -> String {
        Self.isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[m" : text
    }
}
