import RecordModel
import RecordServerCore

/// The texts about the server on its pages, as its operator sets them.
package struct Site: Hashable, Sendable {
    /// The name of the server. When it is nil, the pages have no heading above their own.
    package var name: String?
    /// The operator of the server: a name, an e-mail address or a web address.
    package var operatorName: String?
    package var logo: Logo?

    package init() {}

    /// The part above the heading of each page.
    var header: HTML {
        guard name != nil || logo != nil else { return "" }
        // The name beside the picture says everything that the picture does.
        let words = name == nil ? "Logo" : ""
        let picture: HTML =
            logo.map { "<img class=\"logo\" src=\"\($0.path)\" alt=\"\(words)\">" } ?? ""
        let line: HTML = name.map { "<p>\($0)</p>" } ?? ""
        return "<header>\(picture)\(line)</header>"
    }

    /// The part below everything.
    var footer: HTML {
        guard let operatorName else { return "" }
        return "<footer><p>This server is run by \(Self.link(operatorName)).</p></footer>"
    }

    /// Returns the text, as a link if it is an address. Nothing else becomes a link.
    private static func link(_ text: String) -> HTML {
        if text.hasPrefix("https://"), !text.contains(" ") {
            return "<a href=\"\(text)\" rel=\"noreferrer\">\(text)</a>"
        }
        guard EmailAddress.isWellFormed(Text(text)) else { return "\(text)" }
        return "<a href=\"mailto:\(text)\">\(text)</a>"
    }

    func title(_ page: String) -> HTML { name.map { "\(page) - \($0)" } ?? "\(page)" }
}
