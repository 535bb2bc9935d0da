import RecordModel
import RecordSQL

/// The files of large fields that meet when a text takes another name by a rename.
package struct MovedFiles: Sendable {
    /// Files that already have their names there and keep them. A user who renames a record does
    /// not necessarily mean the files that another record has left.
    package var own: [AssetEntry]
    /// Files that move with the text.
    package var carried: [AssetEntry]
    /// Files that the text names and that a tool has moved away itself. The tool has not yet said
    /// where they belong.
    package var withheld: [AssetEntry]
    /// Files that follow the text when the grace time is over. They replace its own files and those
    /// that are withheld. Nil for a text that belongs to no other record.
    package var following: [AssetEntry]?

    package init(
        own: [AssetEntry] = [], carried: [AssetEntry] = [], withheld: [AssetEntry] = [],
        following: [AssetEntry]? = nil
    ) {
        self.own = own
        self.carried = carried
        self.withheld = withheld
        self.following = following
    }

    package static let none = MovedFiles()
}

extension AssetWriting {
    /// Gives the large fields of a text their files. The text says which fields these are.
    func attach(_ files: MovedFiles, to new: inout RecordWriting.NewState) throws(RecordError) {
        new.withheld = Set(files.withheld.map { AssetPosition($0) })
        guard !files.own.isEmpty || !files.carried.isEmpty else { return }
        let document = try transaction.records.parse(new.text, new.place)
        var own: [KeptAsset] = []
        var changes: [(FieldName, FieldValue?)] = []
        for asset in files.own {
            guard asset.index == nil, let kept = KeptAsset(asset),
                case .asset(let value)? = document[asset.field]
            else { continue }
            own.append(kept)
            let shown = value.showing(kept, of: new.stem)
            if shown != value { changes.append((asset.field, .asset(shown))) }
        }
        // The text is from a time when the record still had another file.
        for asset in files.carried {
            guard asset.index == nil, let kept = KeptAsset(asset),
                !own.contains(where: { $0.field == asset.field }),
                case .asset(let value)? = document[asset.field], value.sha256 != nil,
                value.sha256 != kept.hash
            else { continue }
            changes.append((asset.field, .asset(value.showing(kept, of: new.stem))))
        }
        let brought = files.carried.compactMap { KeptAsset($0) } + new.knownAssets
        new.knownAssets =
            own
            + brought.filter { kept in
                !own.contains { $0.field == kept.field && $0.index == kept.index }
            }
        if !changes.isEmpty { new.text = document.replacing(changes) }
    }
}

extension AssetValue {
    /// Returns the value that a text has for other bytes, with only the details that it already
    /// had.
    fileprivate func showing(_ kept: KeptAsset, of stem: Stem) -> AssetValue {
        var name = fileName
        if fileExtension != kept.fileExtension {
            name = Text(
                utf8: EntryName.assetFileName(
                    stem: stem, field: kept.field, index: nil, fileExtension: kept.fileExtension))
        }
        return AssetValue(
            fileName: name, size: size == nil ? nil : kept.size,
            sha256: sha256 == nil ? nil : kept.hash)
    }
}
