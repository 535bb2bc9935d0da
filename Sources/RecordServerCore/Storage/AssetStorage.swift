package import RecordModel
package import RecordWire

/// The bytes of an asset as one database knows them. The file itself is in the asset directory
/// under its SHA-256.
package struct AssetRow: Hashable, Sendable {
    package let database: DatabaseKey
    /// The checksum as clients send it: base64 of 0x01 and the first 20 bytes of the SHA-256.
    package let fileChecksum: Text
    package let sha256: ContentHash
    /// The size in bytes.
    package let size: Int64
    /// The time of the last upload. An asset that nothing refers to is kept while receipts are
    /// valid.
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
    /// Returns the asset if a record of the database has it or had it: the owner of the database
    /// could have read it there. Returns nil for an upload that no record was ever saved with.
    func savedAsset(_ database: DatabaseKey, fileChecksum: Text) throws(ServerError) -> AssetRow?
    /// Returns whether this record refers to the asset now.
    func refers(_ zone: ZoneHandle, _ record: RecordName, to fileChecksum: Text)
        throws(ServerError) -> Bool
    /// Returns assets without a reference that were uploaded, and lost their last reference, before
    /// `milliseconds`.
    func unreferencedAssets(before milliseconds: Int64, limit: Int) throws(ServerError)
        -> [AssetRow]
    /// Returns assets that records had and no record has now, and that were uploaded before
    /// `milliseconds`. The storage chooses the order.
    func releasedAssets(
        _ holder: QuotaHolder, uploadedBefore milliseconds: Int64, limit: Int
    ) throws(ServerError) -> [AssetRow]
    /// Returns whether any database of the server has this content.
    func isContentKnown(_ sha256: ContentHash) throws(ServerError) -> Bool
    /// Returns the bytes of all records and referenced assets: in a user's private databases, over
    /// all containers, or in one public database. An asset counts once for each zone that refers to
    /// it. The cost does not depend on the number of zones.
    func usedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64
    /// Returns the bytes of assets that nothing refers to, in the same databases. Each asset counts
    /// as at least 512 bytes.
    func unsavedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64
}

package protocol AssetWriter {
    func putAsset(_ asset: AssetRow) throws(ServerError)
    /// Deletes the assets, except those that a record refers to.
    func deleteAssets(_ assets: [AssetRow]) throws(ServerError)
    /// Replaces the asset references of each of these records, which have been put. The assets must
    /// exist.
    func putAssetReferences(_ zone: ZoneHandle, _ records: [RecordAssets]) throws(ServerError)
}
