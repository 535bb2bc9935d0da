import RecordModel
import RecordStore
import Synchronization

/// What `.error` says in words: the last rejected save of a directory, and the last of its assets
/// that could not be read.
struct ErrorReport: Sendable {
    let text: [UInt8]
    let since: Timestamp
}

extension Tree {
    /// Nil when every save of the directory was accepted.
    func errorReport(of type: TypeID) throws(RecordError) -> ErrorReport? {
        let failure = state.withLock { $0.assetFailures[type] }
        let drafts = try store.drafts(in: type)
        // One of a time to come is of a clock that was ahead, and so of before.
        let now = now
        let order = { (draft: Draft) in (draft.since <= now ? 1 : 0, draft.since) }
        guard let last = drafts.max(by: { order($0) < order($1) }) else {
            return failure.map { ErrorReport(text: Array($0.report.utf8), since: $0.since) }
        }
        var lines = [Self.report(last)]
        if let failure { lines.append(failure.report) }
        if drafts.count > 1 {
            lines.append("\(drafts.count - 1) more drafts here; see `recordfs status`.\n")
        }
        return ErrorReport(text: Array(lines.joined().utf8), since: last.since)
    }

    static func report(_ draft: Draft) -> String {
        """
        \(draft.stem).json: \(draft.error)
        Your text is kept in the file as a draft that only this machine sees; the record is \
        unchanged. Mend the text and save again, or drop it: recordfs draft discard PATH

        """
    }
}

extension AssetFailure {
    var report: String { "\(subject) could not be read: \(error)\n" }
}
