import Glibc
import RecordModel
import RecordStore

/// The attributes of the files of records.
extension RecordFiles {
    func attributes(_ file: RecordFile) throws(RecordError) -> Attributes? {
        if let shown = records.open(file)?.shownUnsaved {
            return modes.file(
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
            let shown = open.shown
            attributes = modes.file(
                NodeNumber(file), size: shown.size, modified: shown.modified,
                changed: shown.changed, try modes.fileMode(of: file.record, in: shown.type))
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
