package import RecordModel

/// A program that reads the history, and the token up to which it has read.
package struct HistoryReader: Hashable, Sendable {
    /// The name of a reader: 1 to 64 letters, digits, dots, dashes and underscores of ASCII.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        package static let limit = 64

        package let text: String
        package var description: String { text }

        /// Checks a name. Errors: invalidArgument.
        package init(_ text: String) throws(RecordError) {
            let isValid = text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard isValid, (1...Self.limit).contains(text.utf8.count) else {
                throw RecordError(
                    .invalidArgument,
                    "the name of a reader has 1 to \(Self.limit) letters, digits, dots, dashes and "
                        + "underscores.")
            }
            self.text = text
        }

        init(stored text: String) { self.text = text }
    }

    /// The number of readers that a store has at most.
    package static let most = 64

    package let name: Name
    package let token: Int64
    /// The time of its last use.
    package let used: Timestamp
    /// Indicates whether it was not used for so long that it keeps no versions any more.
    package let isExpired: Bool

    package init(name: Name, token: Int64, used: Timestamp, isExpired: Bool) {
        (self.name, self.token) = (name, token)
        (self.used, self.isExpired) = (used, isExpired)
    }
}

/// The old versions that stay only because a reader has not read them.
package struct HeldVersions: Hashable, Sendable {
    package let reader: HistoryReader
    package var versions = 0
    /// The size of their texts.
    package var bytes: Int64 = 0
}
