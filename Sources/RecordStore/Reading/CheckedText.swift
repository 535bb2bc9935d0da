import RecordModel
import RecordSQL

extension SQLValue {
    /// What is stored beside a text.
    static func checksum(_ text: [UInt8]) -> SQLValue { .integer(TextChecksum.of(text)) }
}

extension SQLStatement {
    /// The text of a column, when it is what the checksum in the next column says.
    ///
    /// - Parameter subject: whose text it is, for the message.
    /// - Throws: corrupt.
    func text(_ column: Int32, of subject: () -> String) throws(RecordError) -> [UInt8] {
        guard let text = wholeText(column) else { throw .damagedText(subject()) }
        return text
    }

    /// As `text`; nil for a text that is damaged.
    func wholeText(_ column: Int32) -> [UInt8]? {
        let text = bytes(column)
        guard !isNull(column), int64IfPresent(column + 1) == TextChecksum.of(text) else {
            return nil
        }
        return text
    }
}

extension RecordError {
    /// A text of the store is not what was stored.
    static func damagedText(_ subject: String) -> RecordError {
        RecordError(
            .corrupt,
            "The text of \(subject) is damaged on the disk. Bring an earlier version back with "
                + "recordfs history PATH and recordfs restore --token TOKEN PATH, or save a whole "
                + "new text; recordfs fsck --deep lists all such texts.")
    }
}
