import Glibc
import RecordModel
import RecordStore

/// Decides which names beside a large field's file belong to the field: only the name of the
/// field's file (MountContract, "Names beside a record").
final class FieldFiles: Sendable {
    let assets: OpenAssets
    let moves: FieldMoves
    let options: TreeOptions
    let places: TypeDirectories
    let rows: CachedRows
    let scratch: ScratchFiles
    let store: RecordStore

    init(_ ground: Ground, _ scratchRooms: ScratchRooms, assets: OpenAssets, moves: FieldMoves) {
        self.assets = assets
        self.moves = moves
        options = ground.options
        places = ground.places
        rows = ground.rows
        scratch = scratchRooms.scratch
        store = ground.store
    }

    /// Returns the file of a field's name. Returns nil for a name that is an ordinary local file:
    /// the field has a file with another name, or the name shows that it is a tool's file.
    func file(_ name: FieldFile) throws(RecordError) -> FieldFile? {
        let record = try rows.row(name.type, name.stem)
        var shown: [AssetEntry] = []
        if let record, record.hasAssets {
            if let entry = try store.assets.asset(record.id, name.field, name.index),
                entry.fileName == name.name, isShown(entry, of: record)
            {
                var file = name
                file.entry = entry
                return file
            }
            // All elements of a list count, and there may be many.
            let files = try store.assets.assets(of: record.id).filter { $0.field == name.field }
            for file in files where isShown(file, of: record) || isClaimed(file, of: record) {
                shown.append(file)
            }
            if shown.contains(where: { $0.fileName == name.name }) { return name }
        }
        guard name.fileExtension.isEmpty || FileExtension.isValid(name.fileExtension),
            isFree(name, beside: shown), !TemporaryName.isBesideField(name.name),
            try scratch.find(name.scratchPlace) == nil
        else { return nil }
        return name
    }

    /// Checks a name that a new file of a field is to have. The file has the name of the field, and
    /// not the name that a model gives its member.
    ///
    /// Errors: notPermitted with the name to use.
    func checkName(_ file: FieldFile) throws(RecordError) {
        let type = try places.place(of: file.type).type
        guard let mapping = try store.schema(of: type).mapping,
            let member = mapping.member(named: file.field), member.field != file.field
        else { return }
        let name = EntryName.assetFileName(
            stem: file.stem, field: member.field, index: file.index,
            fileExtension: file.fileExtension)
        throw RecordError(
            .notPermitted,
            "the file of \"\(member.name)\" has the name of its field: write "
                + String(decoding: name, as: UTF8.self))
    }

    /// Returns whether no file of the field prevents the name: the field has no file, or the name
    /// belongs to another element of its list.
    private func isFree(_ name: FieldFile, beside files: [AssetEntry]) -> Bool {
        guard !files.isEmpty else { return true }
        guard let index = name.index else { return false }
        return files.allSatisfy { $0.index.map { $0 != index } ?? false }
    }

    /// Returns whether the file has its name, or is being written.
    func isShown(_ asset: AssetEntry, of record: RecordEntry) -> Bool {
        let (isOpen, isHidden) = assets.shown(asset.id)
        if isHidden && record.state == .waitingDelete { return false }
        if isOpen { return true }
        return !asset.isLeaving && (asset.kind == .value || asset.hash != nil)
    }

    /// Returns whether the record's text names the file, whose bytes are not written yet.
    private func isClaimed(_ asset: AssetEntry, of record: RecordEntry) -> Bool {
        asset.kind == .file && asset.hash == nil && !asset.isLeaving && record.state == .saved
    }

    /// Returns the files of a record that have their names.
    func shownFiles(of record: RecordID) throws(RecordError) -> [AssetEntry] {
        guard let entry = try store.record(record), entry.hasAssets else { return [] }
        return try store.assets.assets(of: record).filter { isShown($0, of: entry) }
    }

    /// Returns the file that was made beside the file that is removed now, and that takes its
    /// place. A program that converts a picture or a text makes the file with the new ending first.
    /// A file with one additional ending describes the other file (`photo.jpg.xmp`) and does not
    /// take its place, unless a packer has made it, or the program that removes the other file now.
    func heir(of asset: AssetEntry, removedBy caller: Requester) throws(RecordError) -> FieldFile? {
        let listed = FieldFile(
            type: asset.type, stem: asset.stem, field: asset.field, index: asset.index,
            fileExtension: asset.fileExtension)
        let program = options.programs.program(caller.threadID)
        for made in moves.madeBeside(listed).reversed() {
            guard made.name != listed.name, let id = try scratch.find(made.scratchPlace) else {
                continue
            }
            guard let further = made.name.furtherEnding(than: listed.name),
                !TemporaryName.isPacked(further)
            else { return made }
            if let program, scratch.scratchNodes.writer(of: id) == program { return made }
        }
        return nil
    }
}

extension [UInt8] {
    /// Returns the additional ending when the name is `other` plus one ending. Otherwise returns
    /// nil.
    fileprivate func furtherEnding(than other: [UInt8]) -> [UInt8]? {
        guard count > other.count + 1, starts(with: other), self[other.count] == UInt8(ascii: ".")
        else { return nil }
        return Array(self[(other.count + 1)...])
    }
}
