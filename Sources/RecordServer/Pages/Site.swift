import RecordModel

/// What the pages say of the server itself, as its operator wants it.
package struct Site: Hashable, Sendable {
    /// Nil: the pages have no heading above their own.
    package var name: String?
    /// Who runs the server: a name, an e-mail address or a web address.
    package var operatorName: String?
    package var logo: Logo?

    package init() {}

    /// Whether a text can be a name on a page: one short line without controls.
    package static func isName(_ text: some StringProtocol) -> Bool {
        let scalars = text.unicodeScalars
        return (1...100).contains(scalars.count)
            && scalars.allSatisfy { scalar in
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
                default: true
                }
            } && text.contains { !$0.isWhitespace }
    }

    /// Above the heading of each page.
    var header: HTML {
        guard name != nil || logo != nil else { return "" }
        // The name beside it says all that the picture does.
        let words = name == nil ? "Logo" : ""
        let picture: HTML =
            logo.map { "<img class=\"logo\" src=\"\($0.path)\" alt=\"\(words)\">" } ?? ""
        let line: HTML = name.map { "<p>\($0)</p>" } ?? ""
        return "<header>\(picture)\(line)</header>"
    }

    /// Below everything.
    var footer: HTML {
        guard let operatorName else { return "" }
        return "<footer><p>This server is run by \(Self.link(operatorName)).</p></footer>"
    }

    /// Addresses can be followed; nothing else becomes one.
    private static func link(_ text: String) -> HTML {
        if text.hasPrefix("https://"), !text.contains(" ") {
            return "<a href=\"\(text)\" rel=\"noreferrer\">\(text)</a>"
        }
        guard EmailAddress.isWellFormed(Text(text)) else { return "\(text)" }
        return "<a href=\"mailto:\(text)\">\(text)</a>"
    }

    func title(_ page: String) -> HTML { name.map { "\(page) - \($0)" } ?? "\(page)" }
}
