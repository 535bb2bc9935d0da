package import RecordModel
import RecordSQL

extension RecordWriting {
    /// Moves the record's text, draft and assets to another name of the same type, creating or
    /// updating the record there. The old name gets a waiting deletion.
    ///
    /// - Parameter files: the files that keep their names there.
    ///
    /// Errors: crossDevice for another type; accessDenied; invalidName; notFound.
    package func rename(
        _ id: RecordID, toType type: TypeID, stem: Stem, newID: RecordID? = nil,
        files: MovedFiles = .none
    ) throws(RecordError) -> RecordEntry {
        try transaction.assets.finishLeaving(of: id)
        try transaction.assets.finishFollowing(to: id)
        let record = try requireRecord(id)
        guard record.entry.type == type else {
            throw RecordError(.crossDevice, "Records are not moved between types; copy them.")
        }
        let place = try transaction.writablePlace(of: record)
        if record.entry.stem == stem { return record.entry }
        let draft = try transaction.connection.records.draft(of: id)
        var target: RecordID?
        if record.state != .draftOnly,
            let text = try transaction.connection.records.savedText(of: id)
        {
            target = try save(text, of: record, place, as: stem, newID: newID, files)
        }
        if let draft {
            target = try saveDraft(
                text: draft.text, type: type, stem: stem, id: target ?? newID, error: draft.error,
                effect: .renamedOver
            ).id
        }
        guard let target else { throw RecordError(.notFound, "The record is gone.") }
        if record.state == .draftOnly { try moveHeldAssets(from: id, to: target) }
        try transaction.assets.copyPin(of: id, to: target)
        if try transaction.connection.hasMoves(), let name = record.name,
            let newName = try requireRecord(target).name
        {
            try transaction.moves.passMoves(from: name, record.zone, to: newName, record.zone)
        }
        try beginDelete(id)
        noteMoved(id, to: target)
        try transaction.assets.setFollows(files, of: target)
        try transaction.moves.noteRename(of: record, to: target)
        return try requireEntry(target)
    }

    /// Notes that the last change has moved the record. A program that has its file open continues
    /// with the target.
    package func noteMoved(_ record: RecordID, to target: RecordID) {
        guard let last = transaction.changes.indices.last,
            transaction.changes[last].record == record
        else { return }
        transaction.changes[last].movedTo = target
    }

    /// Moves assets that arrived before their record along with its draft.
    private func moveHeldAssets(
        from old: RecordID, to new: RecordID
    ) throws(RecordError) {
        let held = try transaction.connection.records.assets(of: old)
        guard !held.isEmpty else { return }
        if try requireRecord(new).state == .draftOnly {
            let places = Set(held.map { AssetPosition($0) })
            for asset in try transaction.connection.records.assets(of: new)
            where places.contains(AssetPosition(asset)) {
                try transaction.assets.removeAssetRow(asset)
            }
            for asset in held { transaction.assets.noteFormer(asset, isGone: false) }
            try transaction.connection.run(
                "UPDATE asset SET record_id = ?2 WHERE record_id = ?1",
                [.integer(old.rawValue), .integer(new.rawValue)])
            return try transaction.assets.markAssets(of: new)
        }
        for asset in held {
            guard let hash = asset.hash else { continue }
            try transaction.assets.setAsset(
                new, asset.field, asset.index, hash, size: asset.size,
                fileExtension: asset.fileExtension)
        }
        for asset in held { try transaction.assets.removeAssetRow(asset) }
    }

    private func save(
        _ text: [UInt8], of record: StoredRow, _ place: TypePlace, as stem: Stem,
        newID: RecordID?, _ files: MovedFiles
    ) throws(RecordError) -> RecordID {
        let assets = try transaction.connection.records.assets(of: record.id).filter {
            $0.kind == .file
        }
        var new = NewState(
            text: try renaming(assets, in: text, place, to: stem), place: place, stem: stem)
        new.modified = record.entry.modified
        new.effect = .renamedOver
        new.knownAssets = assets.compactMap(KeptAsset.init(_:))
        try transaction.assets.attach(files, to: &new)
        let existing = try target(stem, place.type, of: record.id)
        try transaction.checkWritable(existing, saying: new.text, as: stem, in: place)
        if let existing, existing.state != .draftOnly {
            return try update(existing, to: new).id
        }
        return try create(new, over: existing, id: newID).id
    }

    /// Returns the record that takes a text saved under a name. A name that waits for its deletion
    /// because its own record was renamed is free: that record has moved, and edits of it by others
    /// follow it.
    ///
    /// - Parameter record: the record that is renamed. A record that is renamed back has not moved.
    func target(
        _ stem: Stem, _ type: TypeID, of record: RecordID? = nil
    ) throws(RecordError) -> StoredRow? {
        guard let old = try transaction.connection.records.stored(type, stem) else { return nil }
        guard transaction.author != .sync,
            let copy = try transaction.connection.records.copyOfGivenUp(old),
            copy.id != record
        else { return old }
        try finalizeDelete(old.id)
        return nil
    }

    /// Makes a name free that its record has given up.
    package func freeRenamedName(_ stem: Stem, in type: TypeID) throws(RecordError) {
        _ = try target(stem, type)
    }

    /// Returns the text with its assets under their new file names.
    func renaming(
        _ assets: [AssetEntry], in text: [UInt8], _ place: TypePlace, to stem: Stem
    ) throws(RecordError) -> [UInt8] {
        guard !assets.isEmpty else { return text }
        return try parse(text, place).renamingAssets(to: stem)
    }
}

extension RecordRows {
    /// Returns the record to which a record that waits for its deletion was renamed, if the old
    /// name is free: no other record will be shown under it when the deletion is final.
    fileprivate func copyOfGivenUp(_ record: StoredRow) throws(RecordError) -> StoredRow? {
        guard record.state == .waitingDelete, let name = record.name,
            let copy = try connection.renamed(record.id)
        else { return nil }
        let type = try connection.first(
            "SELECT name FROM record_type WHERE id = ?", [.integer(record.entry.type.rawValue)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
        guard let type else { return nil }
        let next = try stored(named: name.with(type), record.zone)
        return next?.entry.type == record.entry.type ? nil : copy
    }
}

extension RecordHistory {
    /// Returns the record to which a record that waits for its deletion was renamed, while that
    /// record exists.
    package func renamed(_ record: RecordID) throws(RecordError) -> RecordID? {
        try store.read { connection throws(RecordError) in try connection.renamed(record)?.id }
    }

    /// Returns whether a record that waits for its deletion has another name now, so that a record
    /// under the former name is a different one.
    package func hasGivenUpName(_ record: RecordEntry) throws(RecordError) -> Bool {
        guard record.state == .waitingDelete else { return false }
        return try store.read { connection throws(RecordError) in
            guard let stored = try connection.records.stored(record.id) else { return false }
            return try connection.records.copyOfGivenUp(stored) != nil
        }
    }
}

extension RecordDocument {
    /// Returns the text with its large fields under the file names that they have beside that file.
    package func renamingAssets(to stem: Stem) -> [UInt8] {
        let renamed = fields.compactMap { field in
            field.renamingAssets(to: stem).map { (old: field, new: $0) }
        }
        guard !renamed.isEmpty else { return text }
        var names: [FieldName: [(old: Text, new: Text)]] = [:]
        for (old, new) in renamed {
            names[old.name] = zip(old.fileNames, new.fileNames).filter { $0 != $1 }
                .map { (old: $0, new: $1) }
        }
        return renamingFiles(names) ?? replacing(renamed.map { ($0.new.name, $0.new.value) })
    }
}

extension [RecordField] {
    /// Returns the fields with renamed large fields. Returns nil where no large field has another
    /// name.
    package func renamingAssets(to stem: Stem) -> [RecordField]? {
        var renamed: [RecordField]?
        for index in indices {
            guard let field = self[index].renamingAssets(to: stem) else { continue }
            renamed = renamed ?? self
            renamed?[index] = field
        }
        return renamed
    }
}

extension RecordField {
    fileprivate var fileNames: [Text] {
        switch value {
        case .asset(let asset): [asset.fileName]
        case .list(let values):
            values.compactMap { if case .asset(let asset) = $0 { asset.fileName } else { nil } }
        default: []
        }
    }

    /// Returns the field with renamed files. Returns nil where it has no large field, or none with
    /// another name.
    fileprivate func renamingAssets(to stem: Stem) -> RecordField? {
        switch value {
        case .asset(let asset):
            let renamed = asset.renamed(to: stem)
            guard renamed.fileName != asset.fileName else { return nil }
            return RecordField(name: name, value: .asset(renamed))
        case .list(let values):
            var isChanged = false
            let renamed = values.map { value -> FieldValue in
                guard case .asset(let asset) = value else { return value }
                let renamed = asset.renamed(to: stem)
                if renamed.fileName != asset.fileName { isChanged = true }
                return .asset(renamed)
            }
            return isChanged ? RecordField(name: name, value: .list(renamed)) : nil
        default: return nil
        }
    }
}

extension AssetValue {
    fileprivate func renamed(to stem: Stem) -> AssetValue {
        guard case .asset(_, let field, let index, let fileExtension) = entryName else {
            return self
        }
        let name = EntryName.assetFileName(
            stem: stem, field: field, index: index, fileExtension: fileExtension)
        return AssetValue(fileName: Text(utf8: name), size: size, sha256: sha256)
    }
}
