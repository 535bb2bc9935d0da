package import RecordModel
import RecordSQL

extension SQLValue {
    /// Returns the checksum that is stored beside a text.
    static func checksum(_ text: [UInt8]) -> SQLValue { .integer(TextChecksum.of(text)) }
}

extension SQLStatement {
    /// Returns the text of a column, if it matches the checksum in the next column.
    ///
    /// - Parameter subject: the owner of the text, for the message.
    /// - Throws: corrupt.
    func text(_ column: Int32, of subject: () -> String) throws(RecordError) -> [UInt8] {
        guard let text = wholeText(column) else { throw .damagedText(subject()) }
        return text
    }

    /// Does the same as `text`, but returns nil for a damaged text.
    package func wholeText(_ column: Int32) -> [UInt8]? {
        let text = bytes(column)
        guard !isNull(column), int64IfPresent(column + 1) == TextChecksum.of(text) else {
            return nil
        }
        return text
    }
}

extension RecordError {
    /// The error when a text of the store differs from the text that was stored.
    package static func damagedText(_ subject: String) -> RecordError {
        RecordError(
            .corrupt,
            "The text of \(subject) is damaged on the disk. Bring an earlier version back with "
                + "recordfs history PATH and recordfs restore --token TOKEN PATH, or save a whole "
                + "new text; recordfs fsck --deep lists all such texts.")
    }
}
