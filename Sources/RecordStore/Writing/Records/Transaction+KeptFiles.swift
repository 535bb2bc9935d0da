import RecordModel

/// A large field is a file: it goes when its file is removed, or when a text says that it has no value
/// (null). A text that does not speak of it is mostly of a program that does not know of it: rsync, tar and
/// cp bring a `soup.json` again in which there was never a `photo`, and leave `soup@photo.jpg` alone.
extension Transaction {
    /// Adds to a text that takes the place of a record what the record says of its files, where the text has
    /// no such key. Not what was renamed a moment ago: its files went with it.
    func keepFiles(of record: StoredRecord, in new: inout NewState) throws(RecordError) {
        guard record.entry.hasAssets else { return }
        let files = Set(
            try connection.assets(of: record.id).filter { $0.kind == .file }.map(\.field))
        guard !files.isEmpty else { return }
        let document = try parseNew(new.text, new.place)
        let missing = files.filter { !document.hasKey($0) }
        guard !missing.isEmpty, try connection.renamed(record.id) == nil,
            let text = try connection.savedText(of: record.id)
        else { return }
        let old = try parse(text, new.place)
        let kept = missing.sorted().compactMap { field -> (FieldName, FieldValue?)? in
            old[field].map { (field, $0) }
        }
        guard !kept.isEmpty else { return }
        new.text = document.replacing(kept)
        new.effect = .rewritten
    }
}
