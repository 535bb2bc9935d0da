import Glibc
import RecordModel
import RecordStore
import Synchronization

/// `conflicts/DB/ZONE/TYPE/NAME/`: the two versions of a record after edits of which one lost.
///
/// When a record has several conflicts, the last one has the plain name.
final class Conflicts: Sendable {
    let options: TreeOptions
    let store: RecordStore
    /// Conflicts whose `merged.json` was removed and may be made again: `mv` from another file
    /// system does so.
    private let removedMerges = Mutex<Set<Int64>>([])

    init(_ ground: Ground) {
        options = ground.options
        store = ground.store
    }

    func names(
        in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> [ControlName] {
        var taken: Set<Stem> = []
        // The newest conflict is first. The plain name stays with the last conflict, even when it
        // is settled.
        let all = try store.syncState.conflicts(in: zone, type: type, settledToo: true)
        return all.compactMap { conflict in
            let isLast = taken.insert(conflict.stem).inserted
            if conflict.isSettled { return nil }
            let name =
                isLast
                ? conflict.stem.bytes
                : NumberedName.make(conflict.stem, conflict.id, extension: "")
            return ControlName(name, .conflict(conflict.id))
        }
    }

    /// Finds a conflict, also one that was settled recently: `rm -r` removes the files that it has
    /// listed one by one.
    func find(
        _ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> ControlPath? {
        switch NumberedName(name, extension: "") {
        case .plain(let stem):
            return try store.syncState.lastConflict(in: zone, type: type, stem).map {
                .conflict($0.id)
            }
        case .numbered(let id):
            guard let conflict = try store.syncState.conflict(id), conflict.zone == zone,
                conflict.type == type,
                NumberedName.make(conflict.stem, id, extension: "") == name
            else { return nil }
            return .conflict(id)
        case nil: return nil
        }
    }

    /// Returns the names in a conflict. A settled conflict has none.
    func fileNames(of id: Int64) throws(RecordError) -> [ControlName] {
        guard let conflict = try store.syncState.conflict(id), !conflict.isSettled else {
            return []
        }
        var names: [ControlName] = []
        for file in ControlPath.ConflictFile.allCases where try has(file, conflict) {
            names.append(ControlName(file.rawValue, .conflictFile(id, file)))
        }
        return names
    }

    func findFile(_ name: String, in id: Int64) throws(RecordError) -> ControlPath? {
        guard let file = ControlPath.ConflictFile(rawValue: name),
            let conflict = try store.syncState.conflict(id), try has(file, conflict)
        else { return nil }
        if file == .merged, removedMerges.withLock({ $0.contains(id) }) { return nil }
        return .conflictFile(id, file)
    }

    /// Settles the conflict: the record stays as it is, until `merged.json` is made again.
    func removeFile(
        _ file: ControlPath.ConflictFile, of id: Int64
    ) throws(RecordError) {
        try store.write(author: .restore, isFreeing: true) { transaction throws(RecordError) in
            try transaction.merging.settle(id, .merged)
        }
        if file == .merged { removedMerges.withLock { _ = $0.insert(id) } }
    }

    /// Returns the conflict whose `merged.json` has the name.
    func merged(by name: [UInt8], in directory: Node) -> Int64? {
        guard case .control(.conflict(let id)) = directory,
            name.elementsEqual(ControlPath.ConflictFile.merged.rawValue.utf8)
        else { return nil }
        return id
    }

    /// Returns whether the merge of the conflict was removed. Then it may be made again, once.
    func takeRemovedMerge(_ id: Int64) -> Bool {
        removedMerges.withLock { $0.remove(id) } != nil
    }

    /// Returns whether the conflict has the file. A damaged text is listed too, so that it can be
    /// removed.
    private func has(
        _ file: ControlPath.ConflictFile, _ conflict: Conflict
    ) throws(RecordError) -> Bool {
        if file == .report { return true }
        do throws(RecordError) {
            return try text(of: file, in: conflict) != nil
        } catch  where error.code == .corrupt {
            return true
        }
    }

    func content(
        _ id: Int64, _ file: ControlPath.ConflictFile
    ) throws(RecordError) -> GeneratedContent? {
        guard let conflict = try store.syncState.conflict(id),
            let text = try text(of: file, in: conflict)
        else { return nil }
        // This time shows an editor that has read the merge that the record has changed since.
        let isMerge = file == .merged
        let record = try isMerge ? store.record(conflict.record) : nil
        return GeneratedContent(text, modified: record?.modified ?? conflict.at)
    }

    /// Returns the text of a file. Returns nil for a side that deleted the record, for an unknown
    /// base, and for the merge of a record that is deleted.
    private func text(
        of file: ControlPath.ConflictFile, in conflict: Conflict
    ) throws(RecordError) -> [UInt8]? {
        switch file {
        case .base: try store.syncState.text(of: .base, in: conflict)
        case .mine: try store.syncState.text(of: .mine, in: conflict)
        case .theirs: try store.syncState.text(of: .theirs, in: conflict)
        case .merged: try store.syncState.mergedText(of: conflict)
        case .report: Array(try ConflictReport(conflict, of: store).text.utf8)
        }
    }

    /// Throws the reason why a `merged.json` cannot be made: the record was removed. The reason is
    /// also reported to the user, because the program only sees "Operation not permitted".
    func checkMerge(_ name: [UInt8], in directory: Node) throws(RecordError) {
        guard let id = merged(by: name, in: directory),
            let conflict = try store.syncState.conflict(id), !conflict.isSettled,
            try store.syncState.isGone(conflict)
        else { return }
        let reason = RecordError(
            .notPermitted,
            "The record was removed here, so there is nothing to merge into. Bring it back with "
                + "`recordfs conflicts resolve --keep mine` or `--keep theirs`, or remove the "
                + "conflict's directory to leave it removed. report.txt there says more.")
        let place = try store.zone(conflict.zone)?.shownPath ?? []
        options.refused(
            TypeDirectories.path(
                [Array(".recordfs/conflicts".utf8)] + place
                    + [conflict.type.bytes, conflict.stem.bytes, name]), reason.message)
        throw reason
    }
}
