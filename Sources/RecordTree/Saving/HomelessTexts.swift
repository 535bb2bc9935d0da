import RecordModel
import RecordStore
import Synchronization

/// Saves texts of open files whose directory was removed by a change from elsewhere.
extension Tree {
    /// Throws unless this user may write to the open file. The file may have been opened when that
    /// was allowed. Its directory may have been removed since then; the save restores it.
    func checkStillWritable(_ open: OpenRecord) throws(RecordError) {
        try open.checkIsShared()
        let (file, type, home) = open.state.withLock { ($0.file, $0.type, $0.home) }
        do throws(RecordError) {
            try checkWritable(file.record, in: type)
        } catch  where error.code == .stale {
            guard let home, home.zone.database != .shared else { throw error }
        }
    }

    /// Saves a text whose TYPE directory is removed: the edit wins, and the directory is restored.
    /// Directories of others are not restored: the user's text is then in the trash.
    ///
    /// - Parameter error: the error of the failed save. It is thrown for texts that have their
    ///   directory.
    func saveHomeless(_ open: OpenRecord, _ error: RecordError) throws(RecordError) {
        guard let snapshot = open.snapshot(), let home = open.state.withLock(\.home),
            try store.type(snapshot.type) == nil
        else { throw error }
        if home.zone.database == .shared { try abandon(open, home) }
        // The author is not the mount, because the kernel does not know the directory.
        let entry = try store.write(author: .restore) { transaction throws(RecordError) in
            let type = try transaction.remakeType(home.zone.id, home.type)
            return try transaction.save(
                text: snapshot.text, type: type.id, stem: snapshot.stem, id: nil,
                modified: snapshot.modified, effect: .inPlace
            ).entry
        }
        open.state.withLock { $0.type = entry.type }
        open.noteSaved(snapshot, in: entry.file)
    }

    /// Revokes a record of others that is no longer shared: programs that have it open read nothing
    /// of it any more. Unsaved writes wait for the next close, which reports them.
    ///
    /// - Returns: the notice that drops the kernel's pages of it.
    func revoke(_ file: RecordFile, of zone: ZoneID) -> [KernelNotice] {
        guard let open = state.withLock({ $0.open[file] }), isOfOthers(zone) else { return [] }
        let number = state.withLock { state in
            state.past.remove(file)
            return state.nodes.number(of: .record(file))
        }
        open.state.withLock { state in
            state.isRevoked = true
            if !state.isDirty { state.text = nil }
        }
        return number.map { [.content($0)] } ?? []
    }

    func isOfOthers(_ zone: ZoneID) -> Bool {
        do throws(RecordError) {
            return try store.keptZone(zone)?.database == .shared
        } catch {
            options.report("Files of a zone may stay readable until they are closed: \(error)")
            return false
        }
    }

    /// Ends the text of a record that is no longer shared with this user.
    func abandon(_ open: OpenRecord, _ home: TypePlace?) throws(RecordError) -> Never {
        var isKept = false
        // Where the text of the others is not known, this user's changes cannot be separated from
        // it.
        if let snapshot = open.snapshot(), let home,
            !snapshot.isInStore || snapshot.base != nil
        {
            isKept = try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.trashUnsaved(
                    snapshot.text, since: snapshot.isInStore ? snapshot.base : nil,
                    stem: snapshot.stem, type: home.type, in: home.zone.id)
            }
        }
        open.state.withLock { state in
            state.isUnlinked = true
            state.isRevoked = true
            state.text = nil
        }
        throw .sharedNoLonger(kept: isKept)
    }
}

extension RecordError {
    static func sharedNoLonger(kept: Bool) -> RecordError {
        RecordError(
            .accessDenied,
            "it is not shared with you any more"
                + (kept ? "; what you have changed is in .recordfs/trash" : ""))
    }
}
