import RecordModel
import RecordStore
import Synchronization

/// The reasons that `.error` shows in TYPE directories.
final class ErrorReports: Sendable {
    private struct Known {
        var failures: [TypeID: AssetFailure] = [:]
        /// Refusals whose `.error` was removed, in their state at that time.
        var acknowledged: [TypeID: Set<AcknowledgedRefusal>] = [:]
        /// The TYPE directories that list `.error`.
        var typesWithDrafts: Set<TypeID> = []
        /// The object of each directory that was saved last with a problem.
        var warnings: [TypeID: CountWarning] = [:]
    }

    let events: EventLog
    let kernel: KernelNotifier
    let options: TreeOptions
    let places: TypeDirectories
    let store: RecordStore
    private let known = Mutex(Known())

    init(
        events: EventLog, kernel: KernelNotifier, options: TreeOptions, places: TypeDirectories,
        store: RecordStore
    ) {
        self.events = events
        self.kernel = kernel
        self.options = options
        self.places = places
        self.store = store
    }

    /// Reads the refusals that the last mount has left.
    func start() throws(RecordError) {
        let types = Set(try store.refusals().map(\.type))
        known.withLock { $0.typesWithDrafts = types }
    }

    /// Keeps a failure for `.error` without an event and without a notice.
    func keep(_ failure: AssetFailure, in type: TypeID) {
        known.withLock { $0.failures[type] = failure }
    }

    /// Forgets the failure of a file. Returns whether it was the last one of the directory: the
    /// arrival of another file says nothing about a file that failed.
    private func drop(_ subject: String, in type: TypeID) -> Bool {
        known.withLock { known in
            guard known.failures[type]?.subject == subject else { return false }
            known.failures[type] = nil
            return true
        }
    }

    /// Notes that a file cannot be read because of the disk, or that its new content was refused.
    /// `.error`, the events and the log show the reason.
    func note(
        _ kind: AssetFailure.Kind, _ subject: String, in type: TypeID, _ error: RecordError
    ) {
        let failure = AssetFailure(kind: kind, subject: subject, error: error, since: options.now)
        keep(failure, in: type)
        events.note(failure: error, of: subject)
        // Logs do not name files that others share, because a log outlives the share.
        let zone = try? places.place(of: type).zone
        options.report(
            zone?.database == .shared
                ? "A file of the zone \(zone.map { "\($0.name)" } ?? ""): \(error.code.rawValue)"
                : failure.sentence)
        kernel.notify([.content(NodeNumber(type))])
    }

    /// Forgets the failure of a file that was written again.
    func forget(of subject: String, in type: TypeID) {
        if drop(subject, in: type) { kernel.notify([.content(NodeNumber(type))]) }
    }

    /// Notes that a record's file was saved. `.error` warns when a relationship of it has too few or
    /// too many objects.
    func noteSaved(_ record: RecordID, _ stem: Stem, in type: TypeID) {
        forget(stem, in: type)
        guard store.model.attached != nil else { return }
        let warning = CountWarning(record: record, stem: stem, since: options.now)
        let isRight = report(warning) == nil
        let isNews = known.withLock { known in
            let had = known.warnings[type]?.record == record
            if !isRight {
                known.warnings[type] = warning
            } else if had {
                known.warnings[type] = nil
            }
            return had || !isRight
        }
        if isNews { kernel.notify([.content(NodeNumber(type))]) }
    }

    /// Returns the words for an object whose relationships have too few or too many objects now.
    /// The other sides of its relationships may have changed since it was saved.
    private func report(_ warning: CountWarning) -> String? {
        do throws(RecordError) {
            let problems = try store.model.countProblems(of: warning.record)
            guard !problems.isEmpty else { return nil }
            return "\(warning.stem).json is saved, but \(problems.joined(separator: "; "))\n"
        } catch {
            options.report("The .error of a directory may be out of date: \(error)")
            return nil
        }
    }

    /// Forgets the failure of a record's file that was saved, or could not be made before.
    func forget(_ stem: Stem, in type: TypeID) {
        guard known.withLock({ $0.failures[type] != nil }) else { return }
        forget(of: "\(stem).json", in: type)
    }

    /// Returns the notices for `.error`. The file appears with a directory's first draft and
    /// disappears with the last one, and the kernel would not see a change of the directory.
    func draftNotices(of change: StoreChange) -> [KernelNotice] {
        guard let type = change.type else { return [] }
        let (hadDrafts, hasSeen, hasWarning) = known.withLock {
            (
                $0.typesWithDrafts.contains(type), $0.acknowledged[type] != nil,
                $0.warnings[type] != nil
            )
        }
        if hasWarning { return [.content(NodeNumber(type))] }
        // Discarding a draft is also a change of the draft. A record that is restored unchanged
        // gets its refusal back.
        guard hadDrafts || [.draft, .restored, .text].contains(change.kind) else { return [] }
        let hasDrafts = hasDrafts(type) ?? hadDrafts
        guard hadDrafts != hasDrafts || hasSeen else { return [] }
        known.withLock { known in
            if hasDrafts {
                known.typesWithDrafts.insert(type)
            } else {
                known.typesWithDrafts.remove(type)
                known.acknowledged[type] = nil
            }
        }
        return [.content(NodeNumber(type))]
    }

    /// Returns whether a type has drafts. Returns nil when that cannot be read.
    private func hasDrafts(_ type: TypeID) -> Bool? {
        do throws(RecordError) {
            return try !store.refusals(in: type).isEmpty
        } catch {
            options.report("The .error of a directory may be out of date: \(error)")
            return nil
        }
    }

    /// Returns the report of a directory. Returns nil when every save was accepted, or all refusals
    /// are acknowledged.
    func report(of type: TypeID) throws(RecordError) -> ErrorReport? {
        let (failure, seen, warning) = known.withLock {
            ($0.failures[type], $0.acknowledged[type] ?? [], $0.warnings[type])
        }
        let warned = warning.flatMap { warning in report(warning).map { ($0, warning.since) } }
        let refusals = try store.refusals(in: type).filter {
            !seen.contains(AcknowledgedRefusal($0))
        }
        // A refusal with a future time is an earlier one, made while the clock was ahead.
        let now = options.now
        let order = { (refusal: Refusal) in (refusal.since <= now ? 1 : 0, refusal.since) }
        guard let last = refusals.max(by: { order($0) < order($1) }) else {
            let texts = [failure?.report, warned?.0].compactMap(\.self)
            guard let since = [failure?.since, warned?.1].compactMap(\.self).max() else {
                return nil
            }
            return ErrorReport(text: Array(texts.joined().utf8), since: since)
        }
        var lines = [Self.text(last)]
        if let failure { lines.append(failure.report) }
        if let warned { lines.append(warned.0) }
        if refusals.count > 1 {
            lines.append("\(refusals.count - 1) more refused saves here; see .recordfs/errors.\n")
        }
        return ErrorReport(text: Array(lines.joined().utf8), since: last.since)
    }

    /// Acknowledges the content of `.error`, because the user removes the file. It appears again
    /// with the next refusal, or at the next mount. The drafts stay, and `.recordfs/errors` lists
    /// them.
    func acknowledge(in type: TypeID) throws(RecordError) {
        let refusals = try store.refusals(in: type)
        let isListed = known.withLock { known in
            let seen = known.acknowledged[type] ?? []
            let isListed =
                known.failures[type] != nil || known.warnings[type] != nil
                || !refusals.allSatisfy { seen.contains(AcknowledgedRefusal($0)) }
            known.failures[type] = nil
            known.warnings[type] = nil
            known.acknowledged[type] = Set(refusals.map(AcknowledgedRefusal.init))
            return isListed
        }
        guard isListed else { throw .noSuchFile }
    }

    /// Returns the words for a refusal.
    static func text(_ refusal: Refusal) -> String {
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

    /// Throws when the type has no refusals any more, because reports name shared records.
    func checkHasErrors(_ type: TypeID) throws(RecordError) {
        guard try store.type(type) != nil, try report(of: type) != nil else {
            throw .sharedNoLonger(kept: false)
        }
    }
}
