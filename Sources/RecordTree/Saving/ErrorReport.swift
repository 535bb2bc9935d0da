import RecordModel
import RecordStore
import Synchronization

/// A refused save that the user has seen: the user removed its `.error`.
struct AcknowledgedRefusal: Hashable, Sendable {
    let record: RecordID
    let since: Timestamp

    init(_ refusal: Refusal) {
        record = refusal.record
        since = refusal.since
    }
}

/// The text of `.error`: the last rejected save of a directory, and the last of its assets that
/// could not be read or saved.
struct ErrorReport: Sendable {
    let text: [UInt8]
    let since: Timestamp
}

extension Tree {
    /// Returns the report of a directory. Returns nil when every save was accepted, or all refusals
    /// are acknowledged.
    func errorReport(of type: TypeID) throws(RecordError) -> ErrorReport? {
        let (failure, seen) = state.withLock {
            ($0.assetFailures[type], $0.acknowledged[type] ?? [])
        }
        let refusals = try store.refusals(in: type).filter {
            !seen.contains(AcknowledgedRefusal($0))
        }
        // A refusal with a future time is an earlier one, made while the clock was ahead.
        let now = now
        let order = { (refusal: Refusal) in (refusal.since <= now ? 1 : 0, refusal.since) }
        guard let last = refusals.max(by: { order($0) < order($1) }) else {
            return failure.map { ErrorReport(text: Array($0.report.utf8), since: $0.since) }
        }
        var lines = [Self.report(last)]
        if let failure { lines.append(failure.report) }
        if refusals.count > 1 {
            lines.append("\(refusals.count - 1) more refused saves here; see .recordfs/errors.\n")
        }
        return ErrorReport(text: Array(lines.joined().utf8), since: last.since)
    }

    /// Acknowledges the content of `.error`, because the user removes the file. It appears again
    /// with the next refusal, or at the next mount. The drafts stay, and `.recordfs/errors` lists
    /// them.
    func acknowledgeErrors(in type: TypeID) throws(RecordError) {
        let refusals = try store.refusals(in: type)
        let isListed = state.withLock { state in
            let seen = state.acknowledged[type] ?? []
            let isListed =
                state.assetFailures[type] != nil
                || !refusals.allSatisfy { seen.contains(AcknowledgedRefusal($0)) }
            state.assetFailures[type] = nil
            state.acknowledged[type] = Set(refusals.map(AcknowledgedRefusal.init))
            return isListed
        }
        guard isListed else { throw .noSuchFile }
    }

    static func report(_ refusal: Refusal) -> String {
        guard !refusal.isAwaited else { return "\(refusal.error)\n" }
        let whereItIs =
            refusal.hasDraft
            ? """
            Your text is kept in the file as a draft that only this machine sees; the record is \
            unchanged. Fix the text and save again, or discard it: recordfs draft discard PATH
            """
            : """
            The program has put the earlier text back; the record is unchanged. Save a text \
            without this error to remove this notice.
            """
        return "\(refusal.stem).json: \(refusal.error)\n\(whereItIs)\n"
    }
}

extension AssetFailure {
    var report: String { sentence + "\n" }

    var sentence: String {
        switch kind {
        case .unread: "\(subject) could not be read: \(error)"
        case .unsaved: "\(subject) could not be saved, and its bytes are not kept: \(error)"
        case .unmade: "\(subject) cannot be made: \(error)"
        }
    }
}
