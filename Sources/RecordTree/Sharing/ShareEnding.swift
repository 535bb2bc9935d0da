import RecordModel
import RecordStore

/// The effects of `rm` on a share's file.
final class ShareEnding: Sendable {
    let options: TreeOptions
    let places: TypeDirectories
    let shareDrafts: ShareDrafts
    let shareStates: ShareStates
    let shares: ShareFiles
    let store: RecordStore

    init(_ ground: Ground, shareDrafts: ShareDrafts, shareStates: ShareStates, shares: ShareFiles) {
        options = ground.options
        places = ground.places
        self.shareDrafts = shareDrafts
        self.shareStates = shareStates
        self.shares = shares
        store = ground.store
    }

    /// The time in which a program that could not leave a share cannot remove anything of it.
    static let patience: Duration = .seconds(60)

    /// The time before a server that could not be reached is asked again.
    private static let pause: Duration = .seconds(10)

    /// Ends a share, or leaves a share of others, after the grace time, as a record is deleted:
    /// many programs replace a file by removing it first. The server is asked before, so that `rm`
    /// fails when the server cannot be reached. Files that are removed below a share that is being
    /// left wait until it is left, and are then removed with it.
    func remove(_ file: ShareFile, _ caller: Requester) throws(RecordError) {
        guard let shown = try shares.share(file) else { throw .noSuchFile }
        do throws(RecordError) {
            try options.server.share(.check, file)
        } catch {
            noteFailedLeave(file, caller)
            throw error
        }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.sharing.setEnding(true, shareOf: shown.share.root, in: shown.zone.id)
        }
        noteEnding(file, after: options.grace)
    }

    private func noteEnding(_ file: ShareFile, after time: Duration) {
        // The share is not shown for longer than its end may take.
        shareStates.end(file, after: time, asideFor: Self.patience)
    }

    /// Continues the ends of shares that the last mount did not complete.
    func resumeEndingShares() throws(RecordError) {
        for (zone, root) in try store.sharing.endingShares() {
            guard let root else {
                noteEnding(.zone(zone), after: .zero)
                continue
            }
            if let record = try store.record(named: root, in: zone) {
                noteEnding(.record(record.id), after: .zero)
            }
        }
        forgetEndsOfGone()
    }

    /// Cancels the end of a share, because its file exists again.
    func cancelEnd(of file: ShareFile) throws(RecordError) {
        guard shareStates.cancelEnd(of: file), let shown = try shares.share(file) else { return }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.sharing.setEnding(false, shareOf: shown.share.root, in: shown.zone.id)
        }
    }

    /// Keeps a participant's share when a program makes its file again: the program replaces the
    /// file and does not leave the share, even when its text is refused.
    ///
    /// - Returns: whether the share was being left.
    func resume(at place: ScratchPlace) throws(RecordError) -> Bool {
        guard place.isOfShare, hasEndingShares, let file = try shares.file(at: place),
            shareStates.isEnding(file),
            try shares.share(file)?.zone.database == .shared
        else { return false }
        try cancelEnd(of: file)
        return true
    }

    /// Ends the shares that were removed some time ago and not written again since.
    func endShares(olderThan uptime: Duration) {
        end(shareStates.ends(until: uptime))
    }

    /// Ends the shares of a file's zone that were removed.
    /// - Returns: whether there were any.
    func endShares(inZoneOf file: ShareFile) throws(RecordError) -> Bool {
        guard let zone = try zone(of: file) else { return false }
        var removed: [ShareFile] = []
        for other in shareStates.ends {
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
            return try store.type(record.type)?.zone
        }
    }

    private func end(_ files: [ShareFile]) {
        for file in files {
            do throws(RecordError) {
                try options.server.share(.end, file)
            } catch  where error.code == .notFound {
                // The share was deleted with its zone or record, or somebody else has ended it.
                forgetEndsOfGone()
            } catch  where error.code == .unavailable || isOfOthers(file) {
                // Deletes below a share of others are not sent as long as the share is not left.
                noteEnding(file, after: Self.pause)
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
            for (zone, root) in try store.sharing.endingShares() {
                guard let root, try store.record(named: root, in: zone) == nil else { continue }
                try store.write(author: .mount, isFreeing: true) {
                    transaction throws(RecordError) in
                    try transaction.sharing.setEnding(false, shareOf: root, in: zone)
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
            if try shares.share(file) != nil, let place = try shareDrafts.place(of: file) {
                try shareDrafts.say(reason, at: place, keepsText: false)
            }
        } catch {
            options.report("The reason is not beside its file: \(error)")
        }
    }

    private func isOfOthers(_ file: ShareFile) -> Bool {
        do throws(RecordError) {
            return try shares.share(file)?.zone.database == .shared
        } catch {
            return true
        }
    }

    var hasEndingShares: Bool { !shareStates.ends.isEmpty }
}
