import RecordModel
import RecordStore
import Synchronization

/// A program that could not leave a share and may continue to remove its content, as `rm -r` does.
struct FailedLeave: Sendable {
    /// The program. Nil where it is not known: then any program counts.
    let program: Int32?
    /// The end of the time in which this counts, as uptime.
    let until: Duration
}

/// The effects of `rm` on a share's file.
extension Tree {
    /// The time in which a program that could not leave a share cannot remove anything of it.
    private static let patience: Duration = .seconds(60)
    /// The time before a server that could not be reached is asked again.
    private static let pause: Duration = .seconds(10)

    /// Ends a share, or leaves a share of others, after the grace time, as a record is deleted:
    /// many programs replace a file by removing it first. The server is asked before, so that `rm`
    /// fails when the server cannot be reached. Files that are removed below a share that is being
    /// left wait until it is left, and are then removed with it.
    func removeShare(_ file: ShareFile, _ caller: Requester) throws(RecordError) {
        guard let shown = try share(file) else { throw .noSuchFile }
        do throws(RecordError) {
            try options.exchange.share(.check, file)
        } catch {
            noteFailedLeave(file, caller)
            throw error
        }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.setEnding(true, shareOf: shown.share.root, in: shown.zone.id)
        }
        noteEnding(file, at: options.clock.uptime + options.grace)
    }

    private func noteEnding(_ file: ShareFile, at uptime: Duration) {
        state.withLock { state in
            state.endingShares[file] = uptime
            // Longer than the end of the share may take.
            state.sharesAside[file] = uptime + Self.patience
        }
    }

    /// Continues the ends of shares that the last mount did not complete.
    func resumeEndingShares() throws(RecordError) {
        for (zone, root) in try store.endingShares() {
            guard let root else {
                noteEnding(.zone(zone), at: options.clock.uptime)
                continue
            }
            if let record = try store.record(named: root, in: zone) {
                noteEnding(.record(record.id), at: options.clock.uptime)
            }
        }
        forgetEndsOfGone()
    }

    /// Cancels the end of a share, because its file exists again.
    func cancelEnd(of file: ShareFile) throws(RecordError) {
        let wasEnding = state.withLock { state in
            state.sharesAside[file] = nil
            return state.endingShares.removeValue(forKey: file) != nil
        }
        guard wasEnding, let shown = try share(file) else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.setEnding(false, shareOf: shown.share.root, in: shown.zone.id)
        }
    }

    /// Keeps a participant's share when a program makes its file again: the program replaces the
    /// file and does not leave the share, even when its text is refused.
    ///
    /// - Returns: whether the share was being left.
    func resumeShare(at place: ScratchPlace) throws(RecordError) -> Bool {
        guard place.isOfShare, hasEndingShares, let file = try shareFile(at: place),
            state.withLock({ $0.endingShares[file] != nil }),
            try share(file)?.zone.database == .shared
        else { return false }
        try cancelEnd(of: file)
        return true
    }

    /// Ends the shares that were removed some time ago and not written again since.
    func endShares(olderThan uptime: Duration) {
        let due = state.withLock { state in
            state.endingShares.filter { $0.value <= uptime }.map(\.key)
        }
        end(due)
    }

    /// Ends the shares of a file's zone that were removed.
    /// - Returns: whether there were any.
    func endShares(inZoneOf file: ShareFile) throws(RecordError) -> Bool {
        guard let zone = try zone(of: file) else { return false }
        var removed: [ShareFile] = []
        for other in state.withLock({ Array($0.endingShares.keys) }) {
            if try self.zone(of: other) == zone { removed.append(other) }
        }
        end(removed)
        return !removed.isEmpty
    }

    private func zone(of file: ShareFile) throws(RecordError) -> ZoneID? {
        switch file {
        case .zone(let zone): return zone
        case .record(let id):
            guard let record = try store.record(id) else { return nil }
            return try place(of: record.type).zone.id
        }
    }

    private func end(_ files: [ShareFile]) {
        for file in files {
            do throws(RecordError) {
                try options.exchange.share(.end, file)
            } catch  where error.code == .notFound {
                // The share was deleted with its zone or record, or somebody else has ended it.
                forgetEndsOfGone()
            } catch  where error.code == .unavailable || isOfOthers(file) {
                // Deletes below a share of others are not sent as long as the share is not left.
                noteEnding(file, at: options.clock.uptime + Self.pause)
                continue
            } catch {
                tellNotEnded(file, error)
            }
            do throws(RecordError) {
                try cancelEnd(of: file)
            } catch {
                options.report("The end of a share could not be cancelled: \(error)")
            }
        }
    }

    /// Cancels the end of shares whose records were removed with the files of the shares: the
    /// deletion of the record leaves the share, and the other removals wait for that.
    private func forgetEndsOfGone() {
        do throws(RecordError) {
            for (zone, root) in try store.endingShares() {
                guard let root, try store.record(named: root, in: zone) == nil else { continue }
                try store.write(author: .mount, isFreeing: true) {
                    transaction throws(RecordError) in
                    try transaction.setEnding(false, shareOf: root, in: zone)
                }
            }
        } catch {
            options.report(
                "Records removed with a share still wait for its end: \(error)")
        }
    }

    /// Writes the reason beside a share that could not be ended and exists again.
    private func tellNotEnded(_ file: ShareFile, _ reason: RecordError) {
        options.report("A share that was removed could not be ended: \(reason)")
        do throws(RecordError) {
            if try share(file) != nil, let place = try shareDraft(of: file) {
                try say(reason, at: place, keepsText: false)
            }
        } catch {
            options.report("The reason is not beside its file: \(error)")
        }
    }

    private func isOfOthers(_ file: ShareFile) -> Bool {
        do throws(RecordError) {
            return try share(file)?.zone.database == .shared
        } catch {
            return true
        }
    }

    var hasEndingShares: Bool { state.withLock { !$0.endingShares.isEmpty } }

    // MARK: Leaving

    /// Notes that a share could not be left. `rm -r` removes the file of the share first. When the
    /// share stays, the files below it still belong to its owner.
    func noteFailedLeave(_ file: ShareFile, _ caller: Requester) {
        do throws(RecordError) {
            guard let zone = try share(file)?.zone, zone.database == .shared else { return }
            let failed = FailedLeave(
                program: options.programs.program(caller.threadID),
                until: options.clock.uptime + Self.patience)
            state.withLock { $0.failedLeaves[zone.id] = failed }
        } catch {
            options.report(
                "A program that did not leave a share may remove records: \(error)")
        }
    }

    /// Throws for a program that has just failed to leave the share from which it removes something
    /// now.
    func checkLeave(_ type: TypeID, _ caller: Requester) throws(RecordError) {
        guard state.withLock({ !$0.failedLeaves.isEmpty }) else { return }
        let zone = try place(of: type).zone.id
        guard let failed = state.withLock({ $0.failedLeaves[zone] }) else { return }
        guard failed.until > options.clock.uptime else {
            return state.withLock { state in state.failedLeaves[zone] = nil }
        }
        let program = options.programs.program(caller.threadID)
        guard failed.program == nil || program == failed.program else { return }
        throw RecordError(
            .accessDenied,
            "the share could not be left, and its records belong to the owner. Use recordfs leave "
                + "to leave it.")
    }
}
