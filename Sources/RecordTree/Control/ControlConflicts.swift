import Glibc
import RecordModel
import RecordStore
import Synchronization

/// `conflicts/DB/ZONE/TYPE/NAME/`: what two sides made of a record, where one of them lost.
///
/// Of the conflicts of one record the last one has the plain name.
extension Tree {
    func conflictNames(
        in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> [ControlName] {
        var taken: Set<Stem> = []
        // Newest first. When the last one is settled, the plain name is still its own.
        let all = try store.conflicts(in: zone, type: type, settledToo: true)
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

    /// Also one that was settled a while ago: `rm -r` removes what it has listed, file by file.
    func findConflict(
        _ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> ControlPath? {
        switch NumberedName(name, extension: "") {
        case .plain(let stem):
            return try store.lastConflict(in: zone, type: type, stem).map { .conflict($0.id) }
        case .numbered(let id):
            guard let conflict = try store.conflict(id), conflict.zone == zone,
                conflict.type == type,
                NumberedName.make(conflict.stem, id, extension: "") == name
            else { return nil }
            return .conflict(id)
        case nil: return nil
        }
    }

    /// A settled conflict lists nothing.
    func conflictFileNames(of id: Int64) throws(RecordError) -> [ControlName] {
        guard let conflict = try store.conflict(id), !conflict.isSettled else { return [] }
        var names: [ControlName] = []
        for file in ControlPath.ConflictFile.allCases where try has(file, conflict) {
            names.append(ControlName(file.rawValue, .conflictFile(id, file)))
        }
        return names
    }

    func findConflictFile(_ name: String, in id: Int64) throws(RecordError) -> ControlPath? {
        guard let file = ControlPath.ConflictFile(rawValue: name),
            let conflict = try store.conflict(id), try has(file, conflict)
        else { return nil }
        if file == .merged, state.withLock({ $0.removedMerges.contains(id) }) { return nil }
        return .conflictFile(id, file)
    }

    /// Settles the conflict: the record stays as it is, until `merged.json` is made anew.
    func removeConflictFile(
        _ file: ControlPath.ConflictFile, of id: Int64
    ) throws(RecordError) {
        try store.write(author: .restore, isFreeing: true) { transaction throws(RecordError) in
            try transaction.settle(id, .merged)
        }
        if file == .merged { state.withLock { _ = $0.removedMerges.insert(id) } }
    }

    /// Makes the `merged.json` that was removed a moment ago. Nil for every other name.
    func createMerge(
        _ name: [UInt8], in directory: Node, flags: Int32
    ) throws(RecordError) -> (NodeEntry, Opened)? {
        guard let id = conflictMerged(by: name, in: directory),
            state.withLock({ $0.removedMerges.remove(id) }) != nil
        else { return nil }
        let path = ControlPath.conflictFile(id, .merged)
        guard let entry = try entry(of: .control(path)) else { return nil }
        // Who makes it has not settled the conflict, but by what is in it.
        try store.write(author: .restore, isFreeing: true) { transaction throws(RecordError) in
            try transaction.reopen(id)
        }
        return (entry, try openControl(path, flags: flags | O_WRONLY | O_TRUNC))
    }

    /// Gives the conflict whose `merged.json` has the name.
    func conflictMerged(by name: [UInt8], in directory: Node) -> Int64? {
        guard case .control(.conflict(let id)) = directory,
            name.elementsEqual(ControlPath.ConflictFile.merged.rawValue.utf8)
        else { return nil }
        return id
    }

    /// Also a damaged text is listed, so that it can be removed.
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

    func conflictContent(
        _ id: Int64, _ file: ControlPath.ConflictFile
    ) throws(RecordError) -> GeneratedContent? {
        guard let conflict = try store.conflict(id), let text = try text(of: file, in: conflict)
        else { return nil }
        // An editor that has read the merge sees that the record has changed since.
        let isMerge = file == .merged
        let record = try isMerge ? store.record(conflict.record) : nil
        return GeneratedContent(text, modified: record?.modified ?? conflict.at)
    }

    /// Nil for a side that deleted the record, for a base that is not known, and for the merge of a
    /// record that is gone.
    private func text(
        of file: ControlPath.ConflictFile, in conflict: Conflict
    ) throws(RecordError) -> [UInt8]? {
        switch file {
        case .base: try store.text(of: .base, in: conflict)
        case .mine: try store.text(of: .mine, in: conflict)
        case .theirs: try store.text(of: .theirs, in: conflict)
        case .merged: try store.mergedText(of: conflict)
        case .report: Array(try ConflictReport(conflict, of: store).text.utf8)
        }
    }

    /// Throws why there is no `merged.json` to write to, where that is what somebody makes: the record was
    /// removed. The shell tells it, for who writes reads no more than "Operation not permitted".
    func checkMerge(_ name: [UInt8], in directory: Node) throws(RecordError) {
        guard let id = conflictMerged(by: name, in: directory),
            let conflict = try store.conflict(id), !conflict.isSettled, try store.isGone(conflict)
        else { return }
        let reason = RecordError(
            .notPermitted,
            "The record was removed here, so there is nothing to merge into. Bring it back with "
                + "`recordfs conflicts resolve --keep mine` or `--keep theirs`, or remove the "
                + "conflict's directory to leave it removed. report.txt there says more.")
        let place = try store.zone(conflict.zone)?.shownPath ?? []
        options.refused(
            Self.path(
                [Array(".recordfs/conflicts".utf8)] + place
                    + [conflict.type.bytes, conflict.stem.bytes, name]), reason.message)
        throw reason
    }
}
