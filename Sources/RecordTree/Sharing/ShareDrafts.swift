import Glibc
import RecordModel
import RecordStore

/// Texts of shares that the server has refused, or could not be asked about: local files under the
/// names of the shares, with the reasons beside them in `.share.error`.
final class ShareDrafts: Sendable {
    let nodeNotices: NodeNotices
    let options: TreeOptions
    let scratch: ScratchFiles
    let shareStates: ShareStates
    let store: RecordStore

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, shareStates: ShareStates) {
        nodeNotices = ground.nodeNotices
        options = ground.options
        scratch = scratchRooms.scratch
        self.shareStates = shareStates
        store = ground.store
    }

    /// Returns the place for a refused text of the share. Returns nil where nothing can be kept.
    func place(of file: ShareFile) throws(RecordError) -> ScratchPlace? {
        switch file {
        case .zone(let zone): return ScratchPlace(directory: .zone(zone), name: ShareName.zone)
        case .record(let id):
            guard let record = try store.record(id) else { return nil }
            return ScratchPlace(
                directory: .type(record.type), name: ShareName.of(record.stem))
        }
    }

    /// Keeps a refused text under the name of the share, with the reason beside it.
    func keep(
        _ text: [UInt8], at place: ScratchPlace, _ reason: RecordError
    ) throws(RecordError) {
        let path: HostName
        do throws(RecordError) {
            // Also for an administrator who may not write to the zone.
            path = try scratch.newPath(place, isChecked: false)
        } catch  where error.code == .stale {
            return
        }
        try scratch.put(text, at: place, path, modified: options.now.asStored)
        try say(reason, at: place)
        nodeNotices.nameChanged(place)
    }

    /// Writes the reason of a refusal beside the file of a share.
    ///
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
        try scratch.put(
            Array(text.utf8), at: report, try scratch.newPath(report, isChecked: false),
            modified: options.now.asStored)
        nodeNotices.nameChanged(report)
        if keepsText, let directory = try store.shownPath(of: place.directory) {
            options.refused(TypeDirectories.path(directory + [place.name]), "\(reason)")
        }
    }

    /// Removes the draft of a share, because the text has become the share or is no longer wanted.
    func drop(_ place: ScratchPlace) throws(RecordError) {
        for place in [place, place.ofError] where try scratch.find(place) != nil {
            try scratch.remove(place, isDirectory: false, isChecked: false)
            nodeNotices.nameChanged(place)
        }
    }

    /// Makes the kernel forget the listings without a share that is shown again.
    func showSharesAgain() {
        for file in shareStates.takeShownAgain() {
            do throws(RecordError) {
                if let place = try place(of: file) { nodeNotices.nameChanged(place) }
            } catch {
                options.report("A listing without the share stays: \(error)")
            }
        }
    }
}
