import Glibc
import RecordModel
import RecordStore

/// The trash for temporary files of tools, from which a user can take them back: ordinary files
/// below the state directory, at `scratch-trash/TIME/DATABASE/ZONE/TYPE/NAME`.
extension ScratchCleaning {
    static let scratchTrashLifetime: Duration = .seconds(30 * 24 * 3600)

    /// Moves a scratch file into the trash, and reports it to the log.
    func throwAway(_ place: ScratchPlace) throws(RecordError) {
        let shown = try shownPath(of: place.directory)
        var path = ScratchStorage.trash
        for part in [Array(options.now.iso8601.utf8)] + shown {
            try scratch.storage.prepareDirectory(path)
            path += [UInt8(ascii: "/")] + part
        }
        try scratch.storage.prepareDirectory(path)
        let target = try scratch.storage.name(inState: path + [UInt8(ascii: "/")] + place.name)
        let held = try scratch.hold(place)
        defer { scratch.letGo(held) }
        try scratch.path(place).rename(to: target, flags: 0)
        scratch.scratchNodes.noteRemoved(place)
        // Logs do not name files that others share, because a log outlives the share.
        let isOfOthers = shown.first == Array(Database.shared.name.utf8)
        let name = shown.flatMap { $0 + [UInt8(ascii: "/")] } + (isOfOthers ? [] : place.name)
        options.report(
            "A tool's temporary file was without use for 7 days: "
                + "\(String(decoding: name, as: UTF8.self)) is now in \(store.directory)/"
                + "\(String(decoding: path, as: UTF8.self)) for 30 days")
    }

    /// Returns the directory in the form that the mount shows, by its parts. A directory that is no
    /// longer in the mount has its number.
    private func shownPath(of directory: ScratchPlace.Directory) throws(RecordError) -> [[UInt8]] {
        try store.shownPath(of: directory) ?? [directory.baseName]
    }

    /// Deletes files for good that were in the trash for their time.
    func emptyScratchTrash() throws(RecordError) {
        guard store.upkeep.clockIsSteady(for: Self.scratchTrashLifetime) else { return }
        // The names are times. Therefore they sort in the order of time.
        let oldest = Array((options.now + (.zero - Self.scratchTrashLifetime)).iso8601.utf8)
        for name in try scratch.storage.name(inState: ScratchStorage.trash).names()
        where name.count == oldest.count && name.lexicographicallyPrecedes(oldest) {
            try scratch.storage.removeTree(ScratchStorage.trash + [UInt8(ascii: "/")] + name)
        }
    }
}
