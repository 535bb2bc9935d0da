import RecordModel
import RecordStore
import Synchronization

/// A program that could not leave what others share, and may go on to remove it: `rm -r` does.
struct FailedLeave: Sendable {
    /// Nil where the program is not known: then it may be any.
    let program: Int32?
    /// In uptime.
    let until: Duration
}

/// What `rm` of a share's file does.
extension Tree {
    /// How long a program that could not leave a share removes nothing of it.
    private static let patience: Duration = .seconds(60)
    /// How long nobody asks a server again that could not be reached.
    private static let pause: Duration = .seconds(10)

    /// A share ends, and one of others is left, after the grace time, as a record goes: many programs
    /// replace a file by removing it first. The server is asked before, so that `rm` hears when it is away.
    /// What is removed below a share that is being left waits until it is, and goes with it.
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
            // Longer than its end may take.
            state.sharesAside[file] = uptime + Self.patience
        }
    }

    /// What the last mount did not live to end.
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

    /// Its file is there again, and so it does not end.
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

    /// A program makes the file anew that a participant's share has: it replaces the file, whatever becomes
    /// of its text, and does not leave.
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

    /// Ends the shares that were removed a while ago, and not written anew since.
    func endShares(olderThan uptime: Duration) {
        let due = state.withLock { state in
            state.endingShares.filter { $0.value <= uptime }.map(\.key)
        }
        for file in due {
            do throws(RecordError) {
                try options.exchange.share(.end, file)
            } catch  where error.code == .notFound {
                // It has gone with its zone or record, or somebody was faster.
                forgetEndsOfGone()
            } catch  where error.code == .unavailable || isOfOthers(file) {
                // What was removed below a share of others is sent to nobody as long as it is not left.
                noteEnding(file, at: options.clock.uptime + Self.pause)
                continue
            } catch {
                tellNotEnded(file, error)
            }
            do throws(RecordError) {
                try cancelEnd(of: file)
            } catch {
                options.report("That a share goes on was not kept: \(error)")
            }
        }
    }

    /// Records of others that were removed with the files of their shares: the deletion of the record leaves the share,
    /// and what was removed besides waits for that.
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
            options.report("What was removed with a share still waits for its end: \(error)")
        }
    }

    /// The share is there again, with the reason beside it.
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

    /// `rm -r` meets the share first. When that stays, what is below it is its owner's still.
    func noteFailedLeave(_ file: ShareFile, _ caller: Requester) {
        do throws(RecordError) {
            guard let zone = try share(file)?.zone, zone.database == .shared else { return }
            let failed = FailedLeave(
                program: options.programs.program(caller.threadID),
                until: options.clock.uptime + Self.patience)
            state.withLock { $0.failedLeaves[zone.id] = failed }
        } catch {
            options.report("What is shared may be removed by who could not leave it: \(error)")
        }
    }

    /// Throws for a program that has just failed to leave what it now removes.
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
            "the share could not be left, and what is in it is its owner's. recordfs leave gives it "
                + "back.")
    }
}
