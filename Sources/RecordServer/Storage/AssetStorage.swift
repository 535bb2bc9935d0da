package import RecordModel
package import RecordWire

/// The bytes of an asset as one database knows them; the file itself is in the asset directory
/// under its SHA-256.
package struct AssetRow: Hashable, Sendable {
    package let database: DatabaseKey
    /// As on the wire: base64 of 0x01 and the first 20 bytes of the SHA-256.
    package let fileChecksum: Text
    package let sha256: ContentHash
    /// In bytes.
    package let size: Int64
    /// Of the last upload: an asset that nothing refers to is kept while receipts are valid.
    package var uploadedMilliseconds: Int64
    package init(
        database: DatabaseKey, fileChecksum: Text, sha256: ContentHash, size: Int64,
        uploadedMilliseconds: Int64
    ) {
        self.database = database
        self.fileChecksum = fileChecksum
        self.sha256 = sha256
        self.size = size
        self.uploadedMilliseconds = uploadedMilliseconds
    }
}

package protocol AssetReader {
    func asset(_ database: DatabaseKey, fileChecksum: Text) throws(ServerError) -> AssetRow?
    /// The asset, if a record of the database has it or had it: whoever owns the database could have
    /// read it there. Nil for an upload that no record was ever saved with.
    func savedAsset(_ database: DatabaseKey, fileChecksum: Text) throws(ServerError) -> AssetRow?
    /// Whether this record refers to the asset now.
    func refers(_ zone: ZoneHandle, _ record: RecordName, to fileChecksum: Text)
        throws(ServerError) -> Bool
    /// Assets without a reference that were uploaded, and lost their last one, before `milliseconds`.
    func unreferencedAssets(before milliseconds: Int64, limit: Int) throws(ServerError)
        -> [AssetRow]
    /// Assets that records had and none has now, and that were uploaded before `milliseconds`, in an
    /// order of the storage's own.
    func releasedAssets(
        _ holder: QuotaHolder, uploadedBefore milliseconds: Int64, limit: Int
    ) throws(ServerError) -> [AssetRow]
    /// Whether any database of the server has this content.
    func isContentKnown(_ sha256: ContentHash) throws(ServerError) -> Bool
    /// Bytes of all records and referenced assets: in a user's private databases, over containers,
    /// or in one public database. An asset counts once for each zone that refers to it. Costs the
    /// same however many zones there are.
    func usedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64
    /// Bytes of assets that nothing refers to, in the same databases; each counts as at least 512.
    func unsavedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64
}

package protocol AssetWriter {
    func putAsset(_ asset: AssetRow) throws(ServerError)
    /// Leaves those that a record refers to.
    func deleteAssets(_ assets: [AssetRow]) throws(ServerError)
    /// Replaces what each of these records, which have been put, refers to. The assets must be there.
    func putAssetReferences(_ zone: ZoneHandle, _ records: [RecordAssets]) throws(ServerError)
}
