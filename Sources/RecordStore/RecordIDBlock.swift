package import RecordModel
import RecordSQL
import Synchronization

/// Record numbers that are set aside on disk and not yet given out.
///
/// A record's inode number is needed before its first save, and a number is never used twice. So
/// the store takes whole blocks in one write. After a crash the rest of a block stays unused.
struct RecordIDBlock: Sendable {
    static let size: Int64 = 1000
    /// Numbers have at most 40 bits, because inode numbers have no room for more.
    private static let lastStart: Int64 = 1 << 40 - size
    private var ranges: [Range<Int64>] = []

    mutating func next() -> RecordID? {
        guard let range = ranges.last else { return nil }
        if range.count == 1 {
            ranges.removeLast()
        } else {
            ranges[ranges.count - 1] = (range.lowerBound + 1)..<range.upperBound
        }
        return RecordID(range.lowerBound)
    }

    mutating func add(_ range: Range<Int64>) {
        if !range.isEmpty { ranges.append(range) }
    }

    /// Takes a block on disk, in the connection's transaction.
    static func take(_ connection: SQLConnection) throws(RecordError) -> Range<Int64> {
        let start = try connection.first("SELECT value FROM meta WHERE key = 'nextRecord'") {
            $0.int64(0)
        }
        guard let start else { throw RecordError(.corrupt, "The store has no record counter.") }
        guard (1...lastStart).contains(start) else {
            throw RecordError(
                .corrupt, "The store's record counter is \(start); only a damaged store has that.")
        }
        try connection.run(
            "UPDATE meta SET value = ? WHERE key = 'nextRecord'", [.integer(start + size)])
        return start..<(start + size)
    }
}

extension RecordStore {
    /// Returns a number for a record that does not exist yet: for `Transaction.save(id:)`, and for
    /// an inode before the first save. The same number is never returned twice, even after a crash.
    package func reserveRecordID() throws(RecordError) -> RecordID {
        if let id = recordIDs.withLock({ $0.next() }) { return id }
        let block = try write(author: .mount) { transaction throws(RecordError) in
            try RecordIDBlock.take(transaction.connection)
        }
        recordIDs.withLock { $0.add((block.lowerBound + 1)..<block.upperBound) }
        return RecordID(block.lowerBound)
    }
}

extension Transaction {
    /// Does the same as `RecordStore.reserveRecordID`. It uses a block that counts only if this
    /// transaction commits.
    func newRecordID() throws(RecordError) -> RecordID {
        if let own = ownRecordIDs, let first = own.first {
            ownRecordIDs = (first + 1)..<own.upperBound
            return RecordID(first)
        }
        if let id = store.recordIDs.withLock({ $0.next() }) { return id }
        let block = try RecordIDBlock.take(connection)
        ownRecordIDs = (block.lowerBound + 1)..<block.upperBound
        return RecordID(block.lowerBound)
    }
}
