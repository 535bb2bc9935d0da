package import RecordModel

/// A text as what is changed in one that both sides have (an extension): one character of a long one is few
/// bytes on the wire so.
package struct TextSplice: Hashable, Sendable {
    /// What stands for the type of a field whose value is one: a server that does not know it refuses it.
    package static let tag: Text = "STRING_SPLICE"

    /// In bytes.
    package let at: Int
    package let drop: Int
    package let insert: Text
    /// Of what becomes of it.
    package let checksum: Int64

    /// Shorter texts go whole.
    package static let minimumBytes = 512
    /// What one takes beside `insert`, about.
    private static let overheadBytes = 64

    /// Nil when the whole text is as good.
    package init?(from old: [UInt8], to new: [UInt8]) {
        guard new.count >= Self.minimumBytes else { return nil }
        var start = zip(old, new).prefix { $0 == $1 }.count
        while start > 0, start < new.count, Self.isInside(new[start]) { start -= 1 }
        // A character of the old text may begin where one of the new one goes on.
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

    /// Nil when the other text is not the one that is meant.
    package func applied(to old: [UInt8]) -> [UInt8]? {
        guard at >= 0, drop >= 0, at <= old.count, drop <= old.count - at else { return nil }
        let new = Array(old[..<at]) + insert.utf8 + old[(at + drop)...]
        guard TextChecksum.of(new) == checksum, String(validating: new, as: UTF8.self) != nil
        else { return nil }
        return new
    }

    /// `[at, drop, insert, checksum]`.
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
