/// The name that a program gives itself as the author of its changes.
package struct AuthorName: Hashable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes.
    package static let limit = 64

    package let text: String
    package var description: String { text }

    /// Checks a name.
    ///
    /// - Throws: invalidArgument for a name that is empty or too long, has control characters or
    ///   spaces around it, begins with `!`, or is one of the authors of RecordFS itself.
    package init(_ text: String) throws(RecordError) {
        guard !text.isEmpty, text.utf8.count <= Self.limit else {
            throw RecordError(
                .invalidArgument, "the name of an author has 1 to \(Self.limit) bytes.")
        }
        let isPrinted = text.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .surrogate:
                false
            default: true
            }
        }
        let isTrimmed = text.first?.isWhitespace == false && text.last?.isWhitespace == false
        guard isPrinted, isTrimmed, text.first != "!", !text.contains("\u{FFFD}") else {
            throw RecordError(
                .invalidArgument,
                "the name of an author is printed text, without spaces around it and without ! "
                    + "before it.")
        }
        guard Author(rawValue: text) == nil else {
            let own = Author.allCases.map(\.rawValue).joined(separator: ", ")
            throw RecordError(
                .invalidArgument, "\(own) are the authors of RecordFS itself. Take another name.")
        }
        self.text = text
    }

    /// A name that was checked when it was stored.
    package init(stored text: String) { self.text = text }
}
