package import RecordModel
package import RecordStore

extension Tree {
    /// Scratch files without use for this long are removed.
    static let scratchLifetime: Duration = .seconds(7 * 24 * 3600)

    /// Work that is due with time; called from the daemon's maintenance thread. Returns when the
    /// next piece is due.
    package func maintain() throws(RecordError) -> Timestamp? {
        _ = retryUnsaved()
        expireWaitingReads()
        return try finalizeDeletes(olderThan: options.grace)
    }

    /// Waiting deletes of at least this age become final. Returns when the next one is due.
    @discardableResult
    func finalizeDeletes(olderThan age: Duration) throws(RecordError) -> Timestamp? {
        guard store.isWritable else { return nil }
        return try store.finalizeWaitingDeletes(olderThan: age, author: .mount)
    }

    /// The last calls before the store closes: nothing waits over an unmount.
    package func finish() throws(RecordError) {
        events.finish()
        interruptWaitingReads()
        guard retryUnsaved() else {
            throw RecordError(
                .noSpace, "\(unsavedCount) records could not be saved; see the log")
        }
        try finalizeDeletes(olderThan: .zero)
        try store.sync()
    }
}
