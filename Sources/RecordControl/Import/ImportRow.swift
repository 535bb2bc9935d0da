package import RecordModel

/// One row of a source, before it has a name.
package struct ImportRow: Sendable {
    package enum Content: Sendable {
        /// Fields to print as a record.
        case fields([JSONMember])
        /// The text of a record file, kept byte for byte.
        case text([UInt8])
        case bad(RecordError)
    }

    /// The line on which the row begins in its source, from 1.
    package let line: Int
    /// The file that is this row, in a directory.
    package var file: String?
    /// The name that the source itself gives: the key in an object of objects, or a file name.
    package let key: RecordName?
    package let content: Content
    /// Bytes of the source up to the end of this row, for progress.
    package let end: Int
    /// Indicates whether several rows are on one line, so that only its number identifies a row.
    package var sharesLine = false
    /// Indicates whether a row of a table has fewer cells than its header.
    package var isShort = false
    /// The cells of a table as texts. They name a row that has no other name.
    var raw: [JSONMember]?
    /// Indicates whether the source cannot be read after this bad row.
    package var endsSource = false
}

/// The rows of a source, read once from its beginning.
package protocol ImportRows {
    /// The length of the source in bytes. It is nil when it is not known (standard input).
    var byteCount: Int? { get }

    /// Returns the next row. Returns nil at the end. A row that cannot be read is a row with `.bad`
    /// content.
    ///
    /// Errors: an error that makes the rest of the source unreadable.
    mutating func next() throws(RecordError) -> ImportRow?
}

extension RecordError {
    /// Returns the error of a part of a text, with its place in the whole text.
    func rebased(line: Int, column: Int, offset: Int) -> RecordError {
        guard let position else { return self }
        let moved = TextPosition(
            line: position.line + line - 1,
            column: position.line == 1 ? position.column + column - 1 : position.column,
            offset: position.offset + offset)
        return RecordError(code, message, at: moved, errno: systemErrno)
    }
}
