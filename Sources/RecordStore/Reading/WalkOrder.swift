import RecordModel

/// Checks that the next part of a walk through a table ends after the part before.
///
/// A walk reads the rows after a key, a part at a time, and continues after the last key that it has
/// read. In a damaged table a key can be smaller than those before it: the walk would come back to
/// rows that it has seen and never end.
///
/// - Parameters:
///   - last: the key after which the part was read.
///   - next: the key at which the part ends. Nil for an empty part.
/// - Throws: corrupt.
func requireProgress<Key: Comparable>(
    after last: Key, to next: Key?, in table: String
) throws(RecordError) {
    guard let next, next <= last else { return }
    throw .disorder(table)
}

extension RecordError {
    /// The error when the rows of a table and its order, or an index, do not agree.
    static func disorder(_ table: String) -> RecordError {
        RecordError(
            .corrupt,
            "The rows of the table \(table) are not in order: it is damaged on the disk. Run recordfs "
                + "fsck; recordfs fsck --recover saves the records that can be read.")
    }
}
