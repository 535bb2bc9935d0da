package import RecordModel

extension Transaction {
    // MARK: Places

    /// Makes a zone, or gives the one that is there. A removed zone of that name comes back with
    /// its number, history and trash. Errors: invalidName.
    package func makeZone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo { throw .pending }

    /// Errors: notFound, notEmpty while it has record types.
    package func removeZone(_ zone: ZoneID) throws(RecordError) { throw .pending }

    package func setPermission(
        _ permission: ZoneInfo.Permission, of zone: ZoneID
    ) throws(RecordError) { throw .pending }

    /// Makes a record type in a zone, or gives the one that is there. Errors: notFound, invalidName.
    package func makeType(
        _ zone: ZoneID, _ name: RecordTypeName
    ) throws(RecordError) -> TypeInfo { throw .pending }

    /// Makes waiting deletes of the type final first. Errors: notFound, notEmpty.
    package func removeType(_ type: TypeID) throws(RecordError) { throw .pending }

    // MARK: Reading inside the transaction

    package func record(_ type: TypeID, _ stem: Stem) throws(RecordError) -> RecordEntry? {
        throw .pending
    }
    package func record(_ id: RecordID) throws(RecordError) -> RecordEntry? { throw .pending }
    package func text(of id: RecordID) throws(RecordError) -> [UInt8]? { throw .pending }
    package func savedText(of id: RecordID) throws(RecordError) -> [UInt8]? { throw .pending }
    package func asset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) -> AssetEntry? { throw .pending }
    package func schema(of type: RecordTypeName) throws(RecordError) -> RecordSchema {
        throw .pending
    }

    // MARK: Records

    /// Saves the text of a record: creates it, updates it, or, when the values are as before, only
    /// keeps the new text. Adopts fields that the schema does not have. Clears a draft and ends a
    /// waiting delete.
    ///
    /// - Parameters:
    ///   - id: a reserved number for a record that is not there yet.
    ///   - modified: the file's time; the transaction's when nil.
    /// - Throws: invalidJSON, invalidRecord, schemaMismatch, tooLarge about the text; accessDenied
    ///   in a read-only zone; notFound for the type; alreadyExists for a taken name.
    package func save(
        text: [UInt8], type: TypeID, stem: Stem, id: RecordID? = nil, modified: Timestamp? = nil
    ) throws(RecordError) -> SaveResult { throw .pending }

    /// Keeps a text that was refused, for a record or for a name that has none (draftOnly).
    package func saveDraft(
        text: [UInt8], type: TypeID, stem: Stem, id: RecordID? = nil, error: RecordError
    ) throws(RecordError) -> RecordEntry { throw .pending }

    /// The record as it is without its draft; nil when nothing is left (it was draftOnly).
    package func discardDraft(_ id: RecordID) throws(RecordError) -> RecordEntry? {
        throw .pending
    }

    /// Hides a record until it comes back or the delete becomes final; a draftOnly one vanishes.
    package func beginDelete(_ id: RecordID) throws(RecordError) { throw .pending }

    /// The record is as before. Nothing happens when it does not wait.
    package func cancelDelete(_ id: RecordID) throws(RecordError) { throw .pending }

    /// Trash, history and outbox; the record is gone. Errors: notFound.
    package func finalizeDelete(_ id: RecordID) throws(RecordError) { throw .pending }

    /// Gives the record's text, draft and assets to another name of the same type, creating or
    /// updating what is there; the old name gets a waiting delete.
    /// Errors: crossDevice for another type.
    package func rename(
        _ id: RecordID, toType type: TypeID, stem: Stem, newID: RecordID? = nil
    ) throws(RecordError) -> RecordEntry { throw .pending }

    /// Remembers a time set by utimens, on this machine only.
    package func setModified(_ id: RecordID, _ modified: Timestamp) throws(RecordError) {
        throw .pending
    }

    // MARK: Assets

    /// The bytes of `field` are now `hash`: the `$asset` in the record's text is rewritten or
    /// inserted, everything else in it stays. On a draftOnly record without text the asset waits
    /// for the record. On a long string or bytes value use `setValue`.
    package func setAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?, _ hash: ContentHash, size: Int64,
        fileExtension: [UInt8]
    ) throws(RecordError) -> AssetEntry { throw .pending }

    /// Takes the value out of the record's text. Errors: notFound.
    package func removeAsset(
        _ record: RecordID, _ field: FieldName, _ index: Int?
    ) throws(RecordError) { throw .pending }

    // MARK: Restoring

    /// Brings a record back from the trash, with its zone and type if they are gone.
    /// Errors: notFound, alreadyExists.
    package func restore(_ trash: Int64) throws(RecordError) -> RecordEntry { throw .pending }

    /// Makes a version of history the record's present state, creating the record if need be.
    package func restoreVersion(_ token: Int64) throws(RecordError) -> RecordEntry {
        throw .pending
    }

    /// Deletes for good.
    package func removeTrash(_ trash: Int64) throws(RecordError) { throw .pending }

    // MARK: Schema and sync

    /// Replaces the development schema of a type. Errors: schemaMismatch when a field with values
    /// would change its type.
    package func setSchema(
        _ schema: RecordSchema, of type: RecordTypeName
    ) throws(RecordError) { throw .pending }

    /// Applies what the server reports: base and, merged by field with what is pending here, the
    /// record. Makes history by `sync`, and an outbox row only when a local edit must win.
    package func applyRemote(_ change: RemoteChange) throws(RecordError) -> RemoteResult {
        throw .pending
    }

    /// The bytes of a remote asset have come.
    package func setDownloaded(_ asset: AssetID, _ hash: ContentHash, size: Int64)
        throws(RecordError)
    { throw .pending }

    /// Takes up to `limit` changes that nobody sends, oldest first, under one new batch number.
    package func claimOutbox(limit: Int) throws(RecordError) -> [OutboxRow] { throw .pending }

    /// The server took it: `text` is the new base.
    package func completeOutbox(
        _ id: Int64, changeTag: String, text: [UInt8]?
    ) throws(RecordError) { throw .pending }

    /// It was not taken: the change goes back, merged with what came after it.
    package func failOutbox(_ id: Int64, error: String) throws(RecordError) { throw .pending }
}
extension RecordError { static let pending = RecordError(.unsupported, "Not there yet.") }
