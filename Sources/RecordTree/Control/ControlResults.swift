import RecordModel
import RecordStore

/// Directories of symlinks to the records that match.
///
/// A query asks about one type, in which no two records share a name. A search asks about a zone:
/// of several matches with one name the one that was made first has the plain name, and the others
/// have a numbered one.
extension ControlDirectory {
    func resultNames(of set: ControlPath.ResultSet) throws(RecordError) -> [ControlName] {
        switch set {
        case .query(let type, let text):
            return try store.index.query(type, try expression(text, type)).map {
                ControlName($0.stem.fileName, .result(set, $0.id))
            }
        case .search(let zone, let words):
            let found = try store.index.search(zone, words: String(decoding: words, as: UTF8.self))
            var owners: [Stem: RecordID] = [:]
            for entry in found {
                owners[entry.stem] = min(owners[entry.stem] ?? entry.id, entry.id)
            }
            return found.map { entry in
                let name =
                    owners[entry.stem] == entry.id
                    ? entry.stem.fileName : NumberedName.make(entry.stem, entry.id.rawValue)
                return ControlName(name, .result(set, entry.id))
            }
        }
    }

    func findResult(_ name: [UInt8], in set: ControlPath.ResultSet) throws(RecordError)
        -> RecordID?
    {
        switch set {
        case .query(let type, let text):
            guard case .record(let stem) = EntryName(classifying: name) else { return nil }
            return try store.index.match(type, try expression(text, type), stem)?.id
        case .search(let zone, let words):
            let words = String(decoding: words, as: UTF8.self)
            switch NumberedName(name) {
            case .plain(let stem):
                return try store.index.searchHit(zone, words: words, .named(stem))?.id
            case .numbered(let number):
                let hit = try store.index.searchHit(zone, words: words, .numbered(RecordID(number)))
                return hit.flatMap { NumberedName.make($0.stem, number) == name ? $0.id : nil }
            case nil: return nil
            }
        }
    }

    private func expression(_ text: [UInt8], _ type: TypeID) throws(RecordError)
        -> QueryExpression
    {
        try QueryExpression(
            parsing: text, schema: try store.schema(of: places.place(of: type).type))
    }

    /// Returns the relative path from a symlink in a result to its record. Returns nil when the
    /// record is deleted.
    func resultTarget(_ set: ControlPath.ResultSet, _ id: RecordID) throws(RecordError)
        -> (path: [UInt8], modified: Timestamp)?
    {
        guard let entry = try store.record(id), let directory = places.directoryPath(of: entry.type)
        else { return nil }
        let parts = directory.split(separator: UInt8(ascii: "/")).count
        // The symlink is below the mount point at .recordfs/query/(the directory)/EXPR. A search
        // asks about a whole zone and is one level higher.
        let depth = if case .search = set { parts + 2 } else { parts + 3 }
        let up = String(repeating: "../", count: depth)
        let path = Array(up.utf8) + directory + [UInt8(ascii: "/")] + entry.stem.fileName
        return (path, entry.modified)
    }

    func symlinkTarget(_ path: ControlPath) throws(RecordError) -> [UInt8] {
        guard case .result(let set, let id) = path, let target = try resultTarget(set, id) else {
            throw RecordError(.stale, "the record is gone")
        }
        return target.path
    }
}
