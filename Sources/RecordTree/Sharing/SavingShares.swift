import Glibc
import RecordModel
import RecordStore
import Synchronization

/// What is written to the file of a share. The server decides about it at once, while close or rename
/// waits; a text that it does not take, or cannot be asked about, stays under the name as a draft: a file
/// of this machine, with the reason beside it in `.share.error`.
extension Tree {
    /// A share that somebody has changed in its own file.
    func save(_ text: [UInt8], of file: ShareFile) throws(RecordError) {
        // `>` and its like close the file once before they write.
        guard !text.isEmpty else { return }
        do throws(RecordError) {
            try options.exchange.share(.save(text), file)
        } catch {
            if let place = try shareDraft(of: file) { try keepDraft(text, at: place, error) }
            throw error
        }
    }

    /// A file of this machine under a share's name is closed, or has got the name: a new share, or the
    /// corrected draft of one.
    private func save(_ text: [UInt8], at place: ScratchPlace) throws(RecordError) {
        let found = try shareFile(at: place)
        if try isCopyOfShare(text, for: found, at: place) { return }
        guard let file = found else { throw place.shareProblem }
        // Who writes the name anew has not removed it to end the share.
        try cancelEnd(of: file)
        // What was removed before is not in the way.
        endShares(olderThan: .seconds(Int64.max))
        try options.exchange.share(.save(text), file)
    }

    /// A descriptor of a local file is closed. Texts are tried once for each time that somebody opens
    /// the file and writes: many programs close their descriptors more than once.
    func submitShare(_ handle: OpenHandle, _ file: HostFile, _ id: ScratchID) throws(RecordError) {
        guard let place = place(of: id), place.isOfShare else { return }
        do throws(RecordError) {
            try checkIsWhole(place)
            guard try file.status.st_size <= options.limits.textBytes else {
                throw RecordError(
                    .tooLarge, "the text of a share is at most \(options.limits.textBytes) bytes")
            }
            let text = try file.readAll()
            guard !text.isEmpty else { return }
            let isNew = state.withLock { state in
                state.triedShares.updateValue(text, forKey: handle.number) != text
            }
            guard isNew else { return }
            try save(text, at: place)
        } catch {
            try say(error, at: place)
            throw error
        }
        try dropShareDraft(place)
    }

    /// A local file takes a share's name: the save of careful editors.
    func saveScratch(_ source: ScratchPlace, asShare target: ScratchPlace) throws(RecordError) {
        let (text, _) = try content(of: source)
        do throws(RecordError) {
            try save(text, at: target)
        } catch  where error.code == .accessDenied {
            // Of who may not change it nothing is kept: the file that he has made stays where it is.
            throw error
        } catch {
            try keepDraft(text, at: target, error)
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
        try dropShareDraft(target)
        try adoptAsShare(source, target)
    }

    /// The kernel's dentry of the share now holds the file's node.
    private func adoptAsShare(
        _ source: ScratchPlace, _ target: ScratchPlace
    ) throws(RecordError) {
        let file = try shareFile(at: target)
        let number = state.withLock { state -> NodeNumber? in
            let scratch = state.scratch.id(at: source)
            guard let file, let number = state.nodes.number(of: .scratch(scratch)) else {
                return nil
            }
            state.nodes.rebind(number, to: .share(file))
            return number
        }
        try storage.remove(try scratchPath(source), isDirectory: false)
        state.withLock { $0.scratch.remove(source) }
        if let number { deliver([.content(number)]) }
        forgetName(target)
    }

    // MARK: Drafts

    /// Where a text of the share is kept that was refused; nil where nothing can be kept.
    func shareDraft(of file: ShareFile) throws(RecordError) -> ScratchPlace? {
        switch file {
        case .zone(let zone): return ScratchPlace(directory: .zone(zone), name: ShareName.zone)
        case .record(let id):
            guard let record = try store.record(id) else { return nil }
            return ScratchPlace(
                directory: .type(record.type), name: ShareName.of(record.stem))
        }
    }

    private func keepDraft(
        _ text: [UInt8], at place: ScratchPlace, _ reason: RecordError
    ) throws(RecordError) {
        let path: HostName
        do throws(RecordError) {
            // Also of an administrator who may not write to the zone.
            path = try newScratchPath(place, isChecked: false)
        } catch  where error.code == .stale {
            return
        }
        try holdScratch(place)
        try storage.place(text, at: path, modified: now.asStored)
        state.withLock { $0.scratch.remove(place) }
        try say(reason, at: place)
        forgetName(place)
    }

    /// - Parameter keepsText: whether what was refused is a text, and not the removal of the file.
    func say(
        _ reason: RecordError, at place: ScratchPlace, keepsText: Bool = true
    ) throws(RecordError) {
        let name = String(decoding: place.name, as: UTF8.self)
        let what =
            keepsText
            ? """
            Your text is kept in the file as a draft that only this machine sees: save it again, \
            corrected where it is wrong, or drop it: rm \(name)
            """ : "The share goes on, and its file is here again. To end it: rm \(name)"
        let text = """
            \(name): \(reason)
            Nothing is shared otherwise than before. \(what)

            """
        let report = place.ofError
        try holdScratch(report)
        try storage.place(
            Array(text.utf8), at: try newScratchPath(report, isChecked: false),
            modified: now.asStored)
        state.withLock { $0.scratch.remove(report) }
        forgetName(report)
        if keepsText, let directory = try store.shownPath(of: place.directory) {
            options.refused(Self.path(directory + [place.name]), "\(reason)")
        }
    }

    /// The text has become the share, or is not wanted.
    func dropShareDraft(_ place: ScratchPlace) throws(RecordError) {
        for place in [place, place.ofError] where try findScratch(place) != nil {
            try removeScratch(place, isDirectory: false, isChecked: false)
            forgetName(place)
        }
    }

    /// Another file has the name now, or none.
    private func forgetName(_ place: ScratchPlace) {
        if let parent = number(of: place.directory) {
            notify([.entry(parent: parent, name: place.name), .content(parent)])
        }
    }

    // MARK: Backups

    /// How long a share is not shown under its name after somebody has renamed it: editors do that for
    /// their backup, and write the name anew.
    private static let aside: Duration = .seconds(3)

    func isSetAside(_ file: ShareFile) -> Bool {
        let uptime = options.clock.uptime
        return state.withLock { state in
            guard let until = state.sharesAside[file] else { return false }
            if until <= uptime { state.sharesAside[file] = nil }
            return until > uptime
        }
    }

    /// The backup of an editor: its text goes there. The share goes on, which only `rm` ends.
    func setAside(_ file: ShareFile, as target: ScratchPlace) throws(RecordError) {
        guard let shown = try share(file) else { throw .noSuchFile }
        guard !target.isOfShare else {
            throw RecordError(.notPermitted, "the share of one thing is not that of another")
        }
        let path = try newScratchPath(target)
        try holdScratch(target)
        try storage.place(shown.text, at: path, modified: shown.share.changed)
        let until = options.clock.uptime + Self.aside
        state.withLock { state in
            state.scratch.remove(target)
            let scratch = state.scratch.id(at: target)
            if let number = state.nodes.number(of: .share(file)) {
                state.nodes.rebind(number, to: .scratch(scratch))
            }
            state.sharesAside[file] = until
        }
    }
}
