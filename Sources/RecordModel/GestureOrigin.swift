/// The name of a gesture, which is the same on all machines: twelve letters without vowels, so that
/// it is neither a number nor a word. The machine on which the gesture happened chooses it at random.
package struct GestureName: Hashable, Sendable, CustomStringConvertible {
    private static let letters = Array("bcdfghjkmnpqrstvwxyz".utf8)
    private static let length = 12

    package let text: String
    package var description: String { text }

    /// Reads a name. Returns nil for any other text.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(Self.letters.contains) else {
            return nil
        }
        self.text = String(text)
    }

    private init(stored text: String) { self.text = text }

    package static func random() -> GestureName {
        GestureName(
            stored: String(
                decoding: (0..<length).map { _ in letters[Int.random(in: letters.indices)] },
                as: UTF8.self))
    }
}

/// The origin of a change, as the machine on which it was made tells the others.
///
/// Its text has five parts with tabs between them: the name of the gesture, its time in milliseconds
/// since 1970, its author, the process that began it, and the name that the program has given itself.
/// The last two may be empty. The server keeps the text and does not interpret it.
package struct GestureOrigin: Hashable, Sendable {
    /// The longest text, in bytes.
    package static let maximumBytes = 256
    /// The longest name of a process that is kept, in bytes. Linux has at most 15.
    private static let toolBytes = 64

    package let name: GestureName
    package let at: Timestamp
    package let author: Author
    package let tool: String?
    package let program: AuthorName?

    package init(
        name: GestureName, at: Timestamp, author: Author, tool: String?, program: AuthorName?
    ) {
        (self.name, self.at, self.author) = (name, at, author)
        (self.tool, self.program) = (tool, program)
    }

    package var text: Text {
        let parts = [
            name.text, String(at.milliseconds), author.rawValue,
            Self.printable(tool ?? ""), program?.text ?? "",
        ]
        return Text(parts.joined(separator: "\t"))
    }

    /// Reads a text. Returns nil for one that this version does not understand.
    package init?(_ text: Text) {
        let parts = text.string.split(separator: "\t", omittingEmptySubsequences: false)
        guard parts.count == 5, text.utf8.count <= Self.maximumBytes,
            let name = GestureName(parts[0]), let milliseconds = Int64(parts[1]),
            let author = Author(rawValue: String(parts[2])), author != .sync
        else { return nil }
        var program: AuthorName?
        if !parts[4].isEmpty {
            do throws(RecordError) {
                program = try AuthorName(String(parts[4]))
            } catch {
                return nil
            }
        }
        let tool = Self.printable(String(parts[3]))
        self.init(
            name: name, at: Timestamp(seconds: 0) + .milliseconds(milliseconds), author: author,
            tool: tool.isEmpty ? nil : tool, program: program)
    }

    /// Returns the name of a process without control characters. A process gives itself any name.
    private static func printable(_ tool: String) -> String {
        let kept = tool.unicodeScalars.filter { $0.properties.generalCategory != .control }
        var text = String(String.UnicodeScalarView(kept))
        while text.utf8.count > toolBytes { text.removeLast() }
        return text
    }
}
