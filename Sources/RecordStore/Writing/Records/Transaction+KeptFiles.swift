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
    /// Makes a text that takes the place of a record, or of none, speak of its files: it names its own, the
    /// same on every machine, where it was copied from another record, and those that stay.
    func settleFiles(
        _ kept: KeptFiles, of record: StoredRecord?, in new: inout NewState
    ) throws(RecordError) {
        let files = try self.files(kept, of: record)
        let namesFiles = author == .mount && new.text.mayNameFiles
        guard namesFiles || !files.isEmpty else { return }
        var document = try parseNew(new.text, new.place)
        if namesFiles, try knowsFiles(in: document) {
            let text = document.renamingAssets(to: new.stem)
            if text != document.text { document = try parseNew(text, new.place) }
        }
        let missing = files.filter { !document.hasKey($0) }
        var text = document.text
        if !missing.isEmpty, let record, let former = try connection.savedText(of: record.id) {
            let kept = try parse(former, new.place).fields.filter { missing.contains($0.name) }
            text = document.replacing(kept.map { ($0.name, $0.value) })
        }
        guard text != new.text else { return }
        new.text = text
        new.effect = .rewritten
    }

    /// Gives the fields whose files stay. Not those of what was renamed a moment ago: they went with it.
    private func files(
        _ kept: KeptFiles, of record: StoredRecord?
    ) throws(RecordError) -> Set<FieldName> {
        guard case .all(let removed) = kept, let record, record.state != .draftOnly,
            record.entry.hasAssets, try connection.renamed(record.id) == nil
        else { return [] }
        let files = try connection.assets(of: record.id).filter {
            $0.kind == .file && !$0.isLeaving && !removed.contains($0.id)
        }
        return Set(files.map(\.field))
    }

    /// Says whether the bytes of all files are known by their hash: a name alone says which they are.
    private func knowsFiles(in document: RecordDocument) throws(RecordError) -> Bool {
        for file in ExpectedAsset.all(in: document, limits: store.options.limits) {
            guard let value = file.value else { continue }
            guard let hash = value.sha256, try connection.isReferred(hash) else { return false }
        }
        return true
    }
}

extension [UInt8] {
    /// False for most texts, which so need not be taken apart.
    fileprivate var mayNameFiles: Bool {
        var rest = self[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "$")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "asset\"".utf8) { return true }
        }
        return false
    }
}
