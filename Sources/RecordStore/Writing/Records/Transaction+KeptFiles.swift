package import RecordModel

/// Large fields that stay although the text that is saved does not speak of them.
package enum KeptFiles: Sendable {
    case none
    /// - Parameter but: files that were removed, while their record waits for its deletion.
    case all(but: Set<AssetID>)
}

/// A large field is a file: it goes when its file is removed, or when a text says that it has no value
/// (null). A text that does not speak of it is mostly of a program that does not know of it: rsync, tar and
/// cp bring a `soup.json` again in which there was never a `photo`, and leave `soup@photo.jpg` alone.
extension Transaction {
    /// Adds to a text that takes the place of a record what the record says of its files, where the text has
    /// no such key. Not what was renamed a moment ago: its files went with it.
    func keep(
        _ kept: KeptFiles, of record: StoredRecord, in new: inout NewState
    ) throws(RecordError) {
        guard case .all(let removed) = kept, record.entry.hasAssets else { return }
        let files = Set(
            try connection.assets(of: record.id).filter {
                $0.kind == .file && !$0.isLeaving && !removed.contains($0.id)
            }
            .map(\.field))
        guard !files.isEmpty else { return }
        let document = try parseNew(new.text, new.place)
        let missing = files.filter { !document.hasKey($0) }
        guard !missing.isEmpty, try connection.renamed(record.id) == nil,
            let text = try connection.savedText(of: record.id)
        else { return }
        let kept = try parse(text, new.place).fields.filter { missing.contains($0.name) }
        guard !kept.isEmpty else { return }
        new.text = document.replacing(kept.map { ($0.name, $0.value) })
        new.effect = .rewritten
    }

    /// The same names on every machine: a text that was copied from another record names the files of that
    /// one. Only where the bytes are known by their hash; a name alone says which they are.
    func nameFilesAsShown(in new: inout NewState) throws(RecordError) {
        guard new.text.contains("\"$asset\"".utf8) else { return }
        let document = try parseNew(new.text, new.place)
        let files = ExpectedAsset.all(in: document, limits: store.options.limits)
        for file in files {
            guard let value = file.value else { continue }
            guard let hash = value.sha256, try connection.isReferred(hash) else { return }
        }
        let text = document.renamingAssets(to: new.stem)
        guard text != new.text else { return }
        new.text = text
        new.effect = .rewritten
    }
}
