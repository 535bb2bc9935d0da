package import RecordModel

/// A text, written as a change of a text that both sides have (an extension). One changed character
/// of a long text then takes few bytes on the wire.
package struct TextSplice: Hashable, Sendable {
    /// The type of a field whose value is a splice. A server that does not know the type refuses
    /// it.
    package static let tag: Text = "STRING_SPLICE"

    /// The place of the change, in bytes.
    package let at: Int
    package let drop: Int
    package let insert: Text
    /// The checksum of the resulting text.
    package let checksum: Int64

    /// The size from which a text is sent as a splice. Shorter texts are sent whole.
    package static let minimumBytes = 512
    /// The approximate number of bytes of a splice without `insert`.
    private static let overheadBytes = 64

    /// Creates the change. Returns nil when it is not clearly shorter than the whole text.
    package init?(from old: [UInt8], to new: [UInt8]) {
        guard new.count >= Self.minimumBytes else { return nil }
        var start = zip(old, new).prefix { $0 == $1 }.count
        while start > 0, start < new.count, Self.isInside(new[start]) { start -= 1 }
        // A character of the old text may begin where one of the new text continues.
        while start > 0, start < old.count, Self.isInside(old[start]) { start -= 1 }
        let most = min(old.count, new.count) - start
        var end = zip(old.reversed(), new.reversed()).prefix(most).prefix { $0 == $1 }.count
        while end > 0, Self.isInside(new[new.count - end]) { end -= 1 }
        let insert = Array(new[start..<(new.count - end)])
        guard insert.count + Self.overheadBytes < new.count / 2,
            String(validating: insert, as: UTF8.self) != nil
        else { return nil }
        at = start
        drop = old.count - end - start
        self.insert = Text(utf8: insert)
        checksum = TextChecksum.of(new)
    }

    private static func isInside(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

    /// Returns the new text. Returns nil when `old` is not the text of which this is a change.
    package func applied(to old: [UInt8]) -> [UInt8]? {
        guard at >= 0, drop >= 0, at <= old.count, drop <= old.count - at else { return nil }
        let new = Array(old[..<at]) + insert.utf8 + old[(at + drop)...]
        guard TextChecksum.of(new) == checksum, String(validating: new, as: UTF8.self) != nil
        else { return nil }
        return new
    }

    /// Reads `[at, drop, insert, checksum]`.
    package init(_ json: JSONReader) throws(ServerError) {
        let parts = try json.array(maximum: 4)
        guard parts.count == 4 else {
            throw json.error("takes a place, a count, a text and a checksum.")
        }
        at = Int(clamping: try parts[0].int64())
        drop = Int(clamping: try parts[1].int64())
        insert = try parts[2].string()
        checksum = try parts[3].int64()
    }

    package func write(to answer: inout AnswerWriter) {
        answer.tree(
            .array([
                .number(JSONNumber(Int64(at))), .number(JSONNumber(Int64(drop))), .string(insert),
                .number(JSONNumber(checksum)),
            ]))
    }
}
