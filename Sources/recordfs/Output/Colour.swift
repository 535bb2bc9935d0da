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

    func of(_ text: String) -> String {
        Self.isOn ? "\u{1B}[\(rawValue)m\(text)\u{1B}[m" : text
    }
}
