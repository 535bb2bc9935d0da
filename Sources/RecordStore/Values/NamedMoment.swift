package import RecordModel

/// A moment that a user has given a name. All that was shown then is kept until the name is removed.
package struct NamedMoment: Hashable, Sendable {
    /// The greatest number of names. Each keeps versions, and every purge compares with all of them.
    package static let most = 1000

    package let name: MomentName
    /// The last version that had been made.
    package let token: Int64
    /// The time that the token stands for.
    package let at: Timestamp
}

/// The name of a moment: a letter, then letters, digits, `-`, `_` and `.`, at most 100 bytes, and
/// nothing that reads as a time.
package struct MomentName: Hashable, Sendable, CustomStringConvertible {
    private static let mostBytes = 100

    package let text: String

    /// Returns nil for a text that is no name.
    package init?(_ text: String) {
        guard let first = text.utf8.first, Self.isLetter(first), text.utf8.count <= Self.mostBytes,
            text.utf8.allSatisfy({
                Self.isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || "-_.".utf8.contains($0)
            }), !["now", "today", "yesterday"].contains(where: { text.hasPrefix($0) })
        else { return nil }
        self.text = text
    }

    init(stored text: String) { self.text = text }

    package var description: String { text }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
