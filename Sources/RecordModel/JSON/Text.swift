/// UTF-8 text that is compared as bytes.
///
/// `String` equates NFC with NFD. Two keys of a record that differ only in that are two keys.
package struct Text: Hashable, Sendable, Comparable {
    package let utf8: [UInt8]

    package init(utf8: [UInt8]) { self.utf8 = utf8 }
    package init(_ string: some StringProtocol) { self.utf8 = Array(string.utf8) }

    /// The text for Swift code that needs a `String`: invalid UTF-8 becomes replacement characters.
    package var string: String { String(decoding: utf8, as: UTF8.self) }
    package var isEmpty: Bool { utf8.isEmpty }

    /// Feeds all bytes to the hasher at once: an array feeds them one by one.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        utf8.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension Text: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self.utf8 = Array(value.utf8) }
}

extension Text: CustomStringConvertible {
    package var description: String { string }
}
