import Glibc
import RecordModel
import RecordStore

/// The attributes of the files of large fields.
extension AssetNodes {
    func attributes(_ id: AssetID) throws(RecordError) -> Attributes? {
        guard let entry = try store.assets.asset(id), let record = try store.record(entry.record)
        else {
            return nil
        }
        return attributes(of: entry, mode: try modes.fileMode(of: record.id, in: record.type))
    }

    func attributes(of entry: AssetEntry, mode: FileMode) -> Attributes {
        let open = assets.open(entry.id)
        let shown = open?.shown
        return modes.file(
            NodeNumber(entry.id, epoch: 0), size: shown?.size ?? entry.size,
            modified: shown?.modified ?? entry.modified,
            changed: max(shown?.changed ?? entry.statusChanged, entry.statusChanged), mode)
    }
}
