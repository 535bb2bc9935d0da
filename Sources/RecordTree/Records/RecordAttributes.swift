import Glibc
import RecordModel
import RecordStore
import Synchronization

private struct ShownAttributes {
    let type: TypeID
    let size: Int64
    let modified: Timestamp
    let changed: Timestamp
}

/// The attributes of the files of records.
extension RecordFiles {
    func attributes(_ file: RecordFile) throws(RecordError) -> Attributes? {
        if let shown = records.open(file)?.shownAttributes {
            return self.modes.file(
                NodeNumber(file), size: shown.size, modified: shown.modified,
                changed: shown.changed, try modes.fileMode(of: file.record, in: shown.type))
        }
        // The row is read first: a file that is replaced at this moment is among the past files
        // before its row shows that.
        if let entry = try store.record(file.record), entry.file == file {
            return attributes(of: entry, mode: try modes.fileMode(of: entry.id, in: entry.type))
        }
        return try pastAttributes(file)
    }

    /// Returns the attributes of a file that has lost its name, for a program that has it open or
    /// is about to open it.
    private func pastAttributes(_ file: RecordFile) throws(RecordError) -> Attributes? {
        let (open, past) = records.lost(file)
        var attributes: Attributes
        if let open {
            let (size, modified, changed, type) = open.state.withLock {
                (Int64($0.text?.count ?? 0), $0.modified, $0.changed, $0.type)
            }
            attributes = self.modes.file(
                NodeNumber(file), size: size, modified: modified, changed: changed,
                try modes.fileMode(of: file.record, in: type))
        } else if let past, past.isOpenable {
            attributes = self.attributes(
                of: past.entry, mode: try modes.fileMode(of: file.record, in: past.entry.type))
        } else {
            return nil
        }
        attributes.links = 0
        return attributes
    }

    func attributes(of entry: RecordEntry, mode: FileMode) -> Attributes {
        modes.file(
            NodeNumber(entry.file), size: entry.size, modified: entry.modified,
            changed: entry.statusChanged, mode)
    }
}

extension OpenRecord {
    /// The attributes that getattr shows while the text is newer than the store. Nil when the store
    /// is up to date.
    fileprivate var shownAttributes: ShownAttributes? {
        state.withLock { state in
            guard let text = state.text, state.isDirty || !state.isInStore else { return nil }
            return ShownAttributes(
                type: state.type, size: Int64(text.count), modified: state.modified,
                changed: state.changed)
        }
    }
}
