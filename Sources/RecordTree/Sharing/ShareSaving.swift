import Glibc
import RecordModel
import RecordStore

/// Saves the text that is written to the file of a share. The server decides about it at once,
/// while close or rename waits. A text that the server refuses, or cannot be asked about, stays
/// under the name as a draft: a local file, with the reason beside it in `.share.error`.
final class ShareSaving: Sendable {
    let kernel: KernelNotifier
    let nodeNotices: NodeNotices
    let nodes: Nodes
    let options: TreeOptions
    let scratch: ScratchFiles
    let shareDrafts: ShareDrafts
    let shareEnding: ShareEnding
    let shareStates: ShareStates
    let shares: ShareFiles
    let store: RecordStore

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, shareDrafts: ShareDrafts,
        shareEnding: ShareEnding, shareStates: ShareStates, shares: ShareFiles
    ) {
        kernel = ground.kernel
        nodeNotices = ground.nodeNotices
        nodes = ground.nodes
        options = ground.options
        scratch = scratchRooms.scratch
        self.shareDrafts = shareDrafts
        self.shareEnding = shareEnding
        self.shareStates = shareStates
        self.shares = shares
        store = ground.store
    }

    /// Saves a share that was changed in its own file.
    func save(_ text: [UInt8], of file: ShareFile) throws(RecordError) {
        // `>` and similar operators close the file once before they write.
        guard !text.isEmpty else { return }
        do throws(RecordError) {
            try options.server.share(.save(text), file)
        } catch {
            if let place = try shareDrafts.place(of: file) {
                try shareDrafts.keep(text, at: place, error)
            }
            throw error
        }
    }

    /// Saves a local file under a share's name after it was closed or renamed to it: a new share,
    /// or the corrected draft of one.
    private func save(_ text: [UInt8], at place: ScratchPlace) throws(RecordError) {
        let found = try shares.file(at: place)
        if try isCopyOfShare(text, for: found, at: place) { return }
        guard let file = found else { throw place.shareProblem }
        // A program that writes the name again has not removed it to end the share.
        try shareEnding.cancelEnd(of: file)
        do throws(RecordError) {
            try options.server.share(.save(text), file)
        } catch  where error.code != .unavailable {
            // A removed share of the same zone may be in the way, as that of a record is when its
            // whole zone is shared. It ends now, without waiting for its grace time.
            guard try shareEnding.endShares(inZoneOf: file) else { throw error }
            try options.server.share(.save(text), file)
        }
    }

    /// Saves a local file when a descriptor of it is closed. Each text is tried once for each time
    /// that a program opens the file and writes, because many programs close their descriptors more
    /// than once.
    func submit(_ handle: OpenHandle, _ file: HostFile, _ id: ScratchID) throws(RecordError) {
        guard let place = scratch.scratchNodes.place(of: id), place.isOfShare else { return }
        do throws(RecordError) {
            try scratch.checkIsWhole(place)
            guard try file.status.st_size <= options.limits.textBytes else {
                throw RecordError(
                    .tooLarge, "the text of a share is at most \(options.limits.textBytes) bytes")
            }
            let text = try file.readAll()
            guard !text.isEmpty else { return }
            guard shareStates.noteTry(text, by: handle.number) else { return }
            try save(text, at: place)
        } catch {
            try shareDrafts.say(error, at: place)
            throw error
        }
        try shareDrafts.drop(place)
    }

    /// Saves a local file that takes a share's name. This is the save of careful editors.
    func saveScratch(_ source: ScratchPlace, asShare target: ScratchPlace) throws(RecordError) {
        let (text, _) = try scratch.content(of: source)
        do throws(RecordError) {
            try save(text, at: target)
        } catch  where error.code == .accessDenied {
            // For a user who may not change the share no draft is kept: the user's own file stays
            // in its place.
            throw error
        } catch {
            try shareDrafts.keep(text, at: target, error)
            throw RecordError(.refusedRename, error.message, at: error.position)
        }
        try shareDrafts.drop(target)
        try adoptAsShare(source, target)
    }

    /// Notes that the kernel's dentry of the share holds the file's node now.
    private func adoptAsShare(
        _ source: ScratchPlace, _ target: ScratchPlace
    ) throws(RecordError) {
        let file = try shares.file(at: target)
        let id = scratch.scratchNodes.id(at: source)
        let number = file.flatMap { nodes.rebind(.scratch(id), to: .share($0)) }
        try scratch.storage.remove(try scratch.path(source), isDirectory: false)
        scratch.scratchNodes.noteRemoved(source)
        if let number { kernel.deliver([.content(number)]) }
        nodeNotices.nameChanged(target)
    }

    // MARK: Backups

    /// The time for which a share is not shown under its name after it was renamed: editors rename
    /// it for their backup, and write the name again.
    private static let aside: Duration = .seconds(3)

    /// Makes an editor's backup of a share: its text is written there. The share continues, because
    /// only `rm` ends it.
    func setAside(_ file: ShareFile, as target: ScratchPlace) throws(RecordError) {
        guard let shown = try shares.share(file) else { throw .noSuchFile }
        guard !target.isOfShare else {
            throw RecordError(.notPermitted, "the share of one thing is not that of another")
        }
        let path = try scratch.newPath(target)
        try scratch.hold(target)
        try scratch.storage.place(shown.text, at: path, modified: shown.share.changed)
        shareStates.setAside(file, for: Self.aside)
        _ = scratch.scratchNodes.take(target, from: nodes.number(of: .share(file)))
    }
}
