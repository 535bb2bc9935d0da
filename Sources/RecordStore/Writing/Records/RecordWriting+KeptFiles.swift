package import RecordModel

/// Large fields that stay although the saved text does not mention them.
package enum KeptFiles: Sendable {
    case none
    /// All large fields of the record.
    ///
    /// - Parameter but: files that were removed while their record waits for its deletion.
    case all(but: Set<AssetID>)
}

/// A large field is a file: it is removed when its file is removed, or when a text gives it no
/// value (null). If a text does not mention the field, a program that does not know the field has
/// usually written it: rsync, tar and cp write a `soup.json` again that never had a `photo`, and
/// leave `soup@photo.jpg` unchanged.
extension RecordWriting {
    /// Completes the file names in a text that replaces a record or becomes a new one. If the text
    /// was copied from another record, it gets the names of its own files, which are the same on
    /// every machine. It also gets the large fields that stay.
    func completeFiles(
        _ kept: KeptFiles, of record: StoredRow?, in new: inout NewState
    ) throws(RecordError) {
        let files = try self.files(kept, of: record)
        let namesFiles = transaction.author == .mount && new.text.mayNameFiles
        guard namesFiles || !files.isEmpty else { return }
        var document = try parseNew(new.text, new.place)
        if namesFiles, try knowsFiles(in: document) {
            let text = document.renamingAssets(to: new.stem)
            if text != document.text { document = try parseNew(text, new.place) }
        }
        let missing = files.filter { !document.hasKey($0) }
        var text = document.text
        if !missing.isEmpty, let record,
            let former = try transaction.connection.records.savedText(of: record.id)
        {
            let kept = try parse(former, new.place).fields.filter { missing.contains($0.name) }
            text = document.replacing(kept.map { ($0.name, $0.value) })
        }
        guard text != new.text else { return }
        new.text = text
        new.effect = .rewritten
    }

    /// Returns the fields whose files stay. A record that was renamed a moment ago has none,
    /// because its files moved with it.
    private func files(
        _ kept: KeptFiles, of record: StoredRow?
    ) throws(RecordError) -> Set<FieldName> {
        guard case .all(let removed) = kept, let record, record.state != .draftOnly,
            record.entry.hasAssets, try transaction.connection.renamed(record.id) == nil
        else { return [] }
        let files = try transaction.connection.records.assets(of: record.id).filter {
            $0.kind == .file && !$0.isLeaving && !removed.contains($0.id)
        }
        return Set(files.map(\.field))
    }

    /// Returns whether the bytes of all files are known by their hash. A name alone does not
    /// identify them.
    private func knowsFiles(in document: RecordDocument) throws(RecordError) -> Bool {
        for file in ExpectedAsset.all(in: document, limits: transaction.store.options.limits) {
            guard let value = file.value else { continue }
            guard let hash = value.sha256, try transaction.connection.isReferred(hash) else {
                return false
            }
        }
        return true
    }
}

extension [UInt8] {
    /// Indicates whether the text may name files. False for most texts, so that they need not be
    /// parsed.
    fileprivate var mayNameFiles: Bool {
        var rest = self[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "$")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "asset\"".utf8) { return true }
        }
        return false
    }
}
