import Glibc
package import RecordModel
import RecordSQL

extension AssetWriting {
    /// Makes a row for an asset whose bytes are about to be written, so that it has a number. It is
    /// not listed before they arrive. Returns the existing row, if there is one.
    package func expectAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?, fileExtension: [UInt8]
    ) throws(RecordError) -> AssetEntry {
        if let asset = try transaction.connection.records.asset(record, field, index) {
            guard asset.kind == .file, asset.fileExtension != fileExtension,
                asset.isLeaving || asset.hash == nil
            else { return asset }
            guard asset.isLeaving else { return try rename(asset, fileExtension) }
            try removeAsset(record, field, index)
        }
        let owner = try transaction.records.requireRecord(record)
        try transaction.connection.run(
            """
            INSERT INTO asset (record_id, type_id, field, idx, kind, hash, size, ext, downloaded,
                modified)
            VALUES (?, ?, ?, ?, 0, NULL, 0, ?, 1, ?)
            """,
            [
                .integer(record.rawValue), .integer(owner.entry.type.rawValue), .name(field),
                .integer(Int64(index ?? -1)), .blob(fileExtension), .time(transaction.now),
            ])
        try markAssets(of: record)
        return try requireAsset(record, field, index)
    }

    /// Removes the row that was made for bytes which were then refused, unless the record's text
    /// names it.
    package func forgetExpected(_ id: AssetID) throws(RecordError) {
        guard let asset = try transaction.connection.records.asset(id), asset.kind == .file,
            asset.hash == nil,
            let record = try transaction.connection.records.stored(asset.record)
        else { return }
        if let text = try transaction.connection.records.savedText(of: record.id) {
            let document = try transaction.outbox.document(
                text, of: record.id, try transaction.place(record.entry.type))
            let named = ExpectedAsset.all(in: document, limits: transaction.store.options.limits)
            guard !named.map(\.place).contains(AssetPosition(asset)) else { return }
        }
        try removeAssetRow(asset)
    }

    /// Gives another extension to an asset whose bytes never arrived.
    private func rename(
        _ asset: AssetEntry, _ fileExtension: [UInt8]
    ) throws(RecordError) -> AssetEntry {
        try transaction.connection.run(
            "UPDATE asset SET ext = ?2 WHERE id = ?1",
            [.integer(asset.id.rawValue), .blob(fileExtension)])
        return try requireAsset(asset.record, asset.field, asset.index)
    }

    /// Removes the row of a file that is no longer at its place.
    func removeAssetRow(_ asset: AssetEntry) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM asset WHERE id = ?", [.integer(asset.id.rawValue)])
        noteFormer(asset, isGone: true)
    }

    /// Reports to observers that the file no longer has the name that it had before this
    /// transaction.
    func noteFormer(_ asset: AssetEntry, isGone: Bool) {
        transaction.assetNames.former.append(
            FormerAsset(id: asset.id, type: asset.type, name: asset.fileName, isGone: isGone))
        transaction.assetNames.directories.insert(asset.type)
    }

    /// Marks a record as having rows of `asset`. Its text need not name them yet.
    func markAssets(of record: RecordID) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE record SET flags = flags | 2 WHERE id = ?", [.integer(record.rawValue)])
    }

    /// Makes `hash` the bytes of `field`. The `$asset` in the record's text is inserted, or
    /// rewritten when it claims other bytes; everything else in the text stays. On a draftOnly
    /// record the asset waits for the record. It also waits when the record waits for its deletion,
    /// which then becomes final. A STRING or BYTES field gets the bytes as its value. Returns nil
    /// when that value is too short to have a file of its own.
    ///
    /// - Parameter isInPlace: the existing file was written to and stays the same file. Otherwise
    ///   other bytes replace it, and they are another file.
    ///
    /// Errors: notFound; accessDenied; schemaMismatch; invalidArgument for a gap in a list.
    @discardableResult
    package func setAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?, _ hash: ContentHash, size: Int64,
        fileExtension: [UInt8], isInPlace: Bool = false
    ) throws(RecordError) -> AssetEntry? {
        let owner = try holder(for: record)
        let record = owner.id
        let place = try transaction.writablePlace(of: owner)
        guard size <= transaction.records.limits(place).assetBytes else {
            throw RecordError(
                .tooLarge,
                "a large field has at most \(transaction.records.limits(place).assetBytes) bytes on the server, and this "
                    + "one has \(size)")
        }
        try stopLeaving(record, field, index)
        if index == nil { try stopFollowing(to: record, field) }
        guard owner.state != .draftOnly,
            let text = try transaction.connection.records.savedText(of: record)
        else {
            return try holdAsset(
                record, field, index, hash, size: size, fileExtension: fileExtension,
                isInPlace: isInPlace)
        }
        let written =
            isInPlace ? AssetPosition(field: field, index: Int64(index ?? -1)) : nil
        if try transaction.connection.records.asset(record, field, index)?.isShown != true {
            try transaction.touch(owner.entry.type)
        }
        transaction.referredAssets.append(hash)
        let document = try transaction.records.parse(text, place)
        let type = try transaction.schema(of: place.name).type(of: field)
        if type == .string || type == .bytes {
            try setValue(
                owner, place, document, field, isString: type == .string, hash, written)
            return try transaction.connection.records.asset(record, field, index)
        }
        let name = EntryName.assetFileName(
            stem: owner.entry.stem, field: field, index: index, fileExtension: fileExtension)
        let value = AssetValue(fileName: Text(utf8: name), size: size, sha256: hash)
        let newText = try document.replacing([
            (field, fieldValue(in: document, field, index, value))
        ])
        let kept = KeptAsset(
            field: field, index: Int64(index ?? -1), hash: hash, size: size,
            fileExtension: fileExtension)
        try transaction.records.keepingDraft(of: owner) { () throws(RecordError) in
            var new = RecordWriting.NewState(text: newText, place: place, stem: owner.entry.stem)
            new.knownAssets = [kept]
            new.written = written
            if newText == text { new.modified = owner.entry.modified }
            _ = try transaction.records.update(owner, to: new)
        }
        let entry = try requireAsset(record, field, index)
        transaction.note(
            .asset, zone: owner.zone, type: owner.entry.type, record: record,
            stem: owner.entry.stem, asset: entry.id)
        Failpoint.pass(.assetReferenced)
        return entry
    }

    /// Returns the value of the field with the asset in it. A name in the text that claims nothing
    /// else stays.
    private func fieldValue(
        in document: RecordDocument, _ field: FieldName, _ index: Int?, _ value: AssetValue
    ) throws(RecordError) -> FieldValue {
        guard let index else {
            if case .asset(let old)? = document[field], old.agrees(with: value) {
                return .asset(old)
            }
            return .asset(value)
        }
        var values: [FieldValue] = []
        if case .list(let old)? = document[field] { values = old }
        guard index <= values.count else {
            throw RecordError(
                .invalidArgument,
                "\(field) is a list of \(values.count): its elements are written in order, and "
                    + "the next is NAME@\(field).\(values.count).EXT.")
        }
        if index < values.count {
            if case .asset(let old) = values[index], old.agrees(with: value) {
                return .list(values)
            }
            values[index] = .asset(value)
        } else {
            values.append(.asset(value))
        }
        return .list(values)
    }

    private func holdAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?, _ hash: ContentHash, size: Int64,
        fileExtension: [UInt8], isInPlace: Bool
    ) throws(RecordError) -> AssetEntry {
        var entry = try expectAsset(record, field, index, fileExtension: fileExtension)
        if !isInPlace, let old = entry.hash, old != hash {
            try removeAssetRow(entry)
            entry = try expectAsset(record, field, index, fileExtension: fileExtension)
        }
        if !entry.isShown {
            try transaction.touch(try transaction.records.requireEntry(record).type)
        }
        transaction.referredAssets.append(hash)
        try transaction.connection.run(
            """
            UPDATE asset SET hash = ?2, size = ?3, ext = ?4, downloaded = ?6, modified = ?5
            WHERE id = ?1
            """,
            [
                .integer(entry.id.rawValue), .text(hash.hex), .integer(size),
                .blob(fileExtension), .time(transaction.now),
                // It may be one of the server's that moves here, whose bytes never came.
                .bool(AssetFiles(places: transaction.store.places).size(of: hash) == size),
            ])
        let owner = try transaction.records.requireRecord(record)
        transaction.note(
            .asset, zone: owner.zone, type: owner.entry.type, record: record,
            stem: owner.entry.stem, asset: entry.id)
        Failpoint.pass(.assetReferenced)
        return try requireAsset(record, field, index)
    }

    /// Stores the bytes that were written to the file of a long string or bytes value as the value.
    private func setValue(
        _ owner: StoredRow, _ place: TypePlace, _ document: RecordDocument,
        _ field: FieldName, isString: Bool, _ hash: ContentHash, _ written: AssetPosition?
    ) throws(RecordError) {
        let bytes = try transaction.store.assets.bytes(ofFile: hash)
        if isString, String(validating: bytes, as: UTF8.self) == nil {
            throw RecordError(
                .schemaMismatch, "\(field) is a STRING: its file must hold valid UTF-8.")
        }
        let value: FieldValue = isString ? .string(Text(utf8: bytes)) : .bytes(bytes)
        let text = document.replacing([(field, value)])
        try transaction.records.keepingDraft(of: owner) { () throws(RecordError) in
            var new = RecordWriting.NewState(text: text, place: place, stem: owner.entry.stem)
            new.written = written
            _ = try transaction.records.update(owner, to: new)
        }
    }

    /// Removes the value from the record's text. Nothing happens when the record waits for its
    /// deletion: its assets are deleted with it, and come back with it from the trash. Errors:
    /// notFound, accessDenied.
    package func removeAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) {
        let owner = try transaction.records.requireRecord(record)
        let place = try transaction.writablePlace(of: owner)
        let asset = try requireAsset(record, field, index)
        guard owner.state != .waitingDelete else { return }
        try transaction.touch(owner.entry.type)
        transaction.note(
            .asset, zone: owner.zone, type: owner.entry.type, record: record,
            stem: owner.entry.stem, asset: asset.id)
        guard owner.state != .draftOnly,
            let text = try transaction.connection.records.savedText(of: record)
        else {
            return try removeHeldAsset(owner, asset)
        }
        let document = try transaction.records.parse(text, place)
        guard document[field] != nil else { return try removeHeldAsset(owner, asset) }
        let stem = owner.entry.stem
        let rest = remaining(document[field], without: index, stem)
        let new = RecordWriting.NewState(
            text: document.replacing([(field, rest)]), place: place, stem: stem)
        if index != nil { try closeGap(asset) }
        try transaction.records.keepingDraft(of: owner) { () throws(RecordError) in
            _ = try transaction.records.update(owner, to: new)
        }
    }

    /// Removes an asset that no text names. When the last one is removed, the empty draft that was
    /// made for it is removed too.
    private func removeHeldAsset(
        _ owner: StoredRow, _ asset: AssetEntry
    ) throws(RecordError) {
        try removeAssetRow(asset)
        guard try transaction.connection.records.assets(of: owner.id).isEmpty else { return }
        if owner.entry.isAwaited {
            return try transaction.records.beginDelete(owner.id)
        }
        try transaction.connection.run(
            "UPDATE record SET flags = flags & ~2 WHERE id = ?", [.integer(owner.id.rawValue)])
    }

    /// Returns the list without one element. The elements after it get the names of their new
    /// places.
    private func remaining(
        _ value: FieldValue?, without index: Int?, _ stem: Stem
    ) -> FieldValue? {
        guard let index, case .list(let values)? = value, values.indices.contains(index) else {
            return nil
        }
        let rest = values.enumerated().compactMap { place, value -> FieldValue? in
            if place == index { return nil }
            guard place > index, case .asset(let asset) = value,
                case .asset(stem, let field, place?, let fileExtension) = asset.entryName
            else { return value }
            let name = EntryName.assetFileName(
                stem: stem, field: field, index: place - 1, fileExtension: fileExtension)
            return .asset(
                AssetValue(fileName: Text(utf8: name), size: asset.size, sha256: asset.sha256))
        }
        return rest.isEmpty ? nil : .list(rest)
    }

    /// Moves the rows after a removed one forward by one place. They keep their numbers.
    private func closeGap(_ removed: AssetEntry) throws(RecordError) {
        try removeAssetRow(removed)
        for asset in try transaction.connection.records.assets(of: removed.record)
        where asset.field == removed.field {
            guard let index = removed.index, let place = asset.index, place > index else {
                continue
            }
            noteFormer(asset, isGone: false)
            try transaction.connection.run(
                "UPDATE asset SET idx = ? WHERE id = ?",
                [.integer(Int64(place - 1)), .integer(asset.id.rawValue)])
        }
    }

    /// Notes that the bytes with that hash were downloaded, for every file that has them and for
    /// every version.
    package func setDownloaded(_ hash: ContentHash) throws(RecordError) {
        transaction.referredAssets.append(hash)
        try transaction.connection.setDownloaded(true, hash)
        // A share may have ended meanwhile, and its remains on the disk may have been removed
        // already.
        if try !transaction.connection.isReferred(hash) { try transaction.sharing.markForScrub() }
    }

    private func requireAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry {
        guard let asset = try transaction.connection.records.asset(record, field, index) else {
            throw RecordError(.notFound, "The record has no asset \(field).")
        }
        return asset
    }
}

extension AssetEntry {
    /// Indicates whether a listing contains it. A row alone, before the bytes arrive, has no file.
    fileprivate var isShown: Bool { kind == .value || hash != nil }
}

extension AssetValue {
    /// Returns whether a text that says `self` already describes `other`, as far as it says
    /// anything.
    fileprivate func agrees(with other: AssetValue) -> Bool {
        fileName == other.fileName && (size ?? other.size) == other.size
            && (sha256 ?? other.sha256) == other.sha256
    }
}

extension StoredAssets {
    /// Returns the bytes of a long string or bytes value, which has a file but no bytes of its own.
    /// Returns nil for an asset.
    package func inlineValue(of asset: AssetEntry) throws(RecordError) -> [UInt8]? {
        guard asset.kind == .value else { return nil }
        guard let text = try store.savedText(of: asset.record),
            let record = try store.record(asset.record),
            let type = try store.type(record.type)
        else { throw RecordError(.stale, "The record is gone.") }
        let document = try RecordDocument(
            parsing: text, schema: try store.schema(of: type.name),
            limits: store.options.limits.asReceived)
        switch document[asset.field] {
        case .string(let text): return text.utf8
        case .bytes(let bytes): return bytes
        case .json(let value): return value.serialized()
        default: throw RecordError(.stale, "The value is gone.")
        }
    }

    /// Returns the bytes of a stored file that is about to become a value.
    package func bytes(ofFile hash: ContentHash) throws(RecordError) -> [UInt8] {
        let path = assetPath(hash)
        guard let size = AssetFiles(places: store.places).size(of: hash) else {
            throw RecordError(.notFound, "The bytes \(hash) are not here.")
        }
        try checkAsset(hash, size: size)
        guard size <= store.options.limits.textBytes else {
            throw RecordError(
                .tooLarge,
                "A value in a record has at most \(store.options.limits.textBytes) bytes.")
        }
        let source = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard source >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
        defer { Glibc.close(source) }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(source, buffer.baseAddress.map { $0 + done }, buffer.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw RecordError.systemCall("read \(path)", errno) }
            done += count
        }
        return bytes
    }
}
