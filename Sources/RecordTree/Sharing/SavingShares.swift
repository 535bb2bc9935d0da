import Glibc
import RecordModel
import RecordStore
import Synchronization

/// Saves the text that is written to the file of a share. The server decides about it at once,
/// while close or rename waits. A text that the server refuses, or cannot be asked about, stays
/// under the name as a draft: a local file, with the reason beside it in `.share.error`.
extension Tree {
    /// Saves a share that was changed in its own file.
    func save(_ text: [UInt8], of file: ShareFile) throws(RecordError) {
        // `>` and similar operators close the file once before they write.
        guard !text.isEmpty else { return }
        do throws(RecordError) {
            try options.exchange.share(.save(text), file)
        } catch {
            if let place = try shareDraft(of: file) { try keepDraft(text, at: place, error) }
            throw error
        }
    }

    /// Saves a local file under a share's name after it was closed or renamed to it: a new share,
    /// or the corrected draft of one.
    private func save(_ text: [UInt8], at place: ScratchPlace) throws(RecordError) {
        let found = try shareFile(at: place)
        if try isCopyOfShare(text, for: found, at: place) { return }
        guard let file = found else { throw place.shareProblem }
        // A program that writes the name again has not removed it to end the share.
        try cancelEnd(of: file)
        do throws(RecordError) {
            try options.exchange.share(.save(text), file)
        } catch  where error.code != .unavailable {
            // A removed share of the same zone may be in the way, as that of a record is when its
            // whole zone is shared. It ends now, without waiting for its grace time.
            guard try endShares(inZoneOf: file) else { throw error }
            try options.exchange.share(.save(text), file)
        }
    }

    /// Saves a local file when a descriptor of it is closed. Each text is tried once for each time
    /// that a program opens the file and writes, because many programs close their descriptors more
    /// than once.
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

    /// Saves a local file that takes a share's name. This is the save of careful editors.
    func saveScratch(_ source: ScratchPlace, asShare target: ScratchPlace) throws(RecordError) {
        let (text, _) = try content(of: source)
        do throws(RecordError) {
            try save(text, at: target)
        } catch  where error.code == .accessDenied {
            // For a user who may not change the share no draft is kept: the user's own file stays
            // in its place.
            throw error
        } catch {
            try keepDraft(text, at: target, error)
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
        try dropShareDraft(target)
        try adoptAsShare(source, target)
    }

    /// Notes that the kernel's dentry of the share holds the file's node now.
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

    /// Returns the place for a refused text of the share. Returns nil where nothing can be kept.
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
            // Also for an administrator who may not write to the zone.
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

    /// - Parameter keepsText: whether a text was refused, and not the removal of the file.
    func say(
        _ reason: RecordError, at place: ScratchPlace, keepsText: Bool = true
    ) throws(RecordError) {
        let name = String(decoding: place.name, as: UTF8.self)
        let what =
            keepsText
            ? """
            Your text is kept in the file as a draft that only this machine sees: correct it and \
            save it again, or discard it: rm \(name)
            """ : "The share continues, and its file is here again. To end it: rm \(name)"
        let text = """
            \(name): \(reason)
            No share was changed. \(what)

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

    /// Removes the draft of a share, because the text has become the share or is no longer wanted.
    func dropShareDraft(_ place: ScratchPlace) throws(RecordError) {
        for place in [place, place.ofError] where try findScratch(place) != nil {
            try removeScratch(place, isDirectory: false, isChecked: false)
            forgetName(place)
        }
    }

    /// Makes the kernel forget the name, which belongs to another file now, or to none.
    private func forgetName(_ place: ScratchPlace) {
        if let parent = number(of: place.directory) {
            notify([.entry(parent: parent, name: place.name), .content(parent)])
        }
    }

    // MARK: Backups

    /// The time for which a share is not shown under its name after it was renamed: editors rename
    /// it for their backup, and write the name again.
    private static let aside: Duration = .seconds(3)

    func isSetAside(_ file: ShareFile) -> Bool {
        let uptime = options.clock.uptime
        return state.withLock { ($0.sharesAside[file] ?? .zero) > uptime }
    }

    /// Makes the kernel forget the listings without a share that is shown again.
    func showSharesAgain() {
        let uptime = options.clock.uptime
        let due = state.withLock { state in
            let due = state.sharesAside.filter { $0.value <= uptime }.map(\.key)
            for file in due { state.sharesAside[file] = nil }
            return due
        }
        for file in due {
            do throws(RecordError) {
                if let place = try shareDraft(of: file) { forgetName(place) }
            } catch {
                options.report("A listing without the share stays: \(error)")
            }
        }
    }

    /// Makes an editor's backup of a share: its text is written there. The share continues, because
    /// only `rm` ends it.
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
