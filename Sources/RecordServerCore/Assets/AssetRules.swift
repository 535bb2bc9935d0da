package import RecordModel
package import RecordWire

/// The rules for asset values in requests, and the URLs for their bytes (Protocol, "Assets").
package enum AssetRules {
    /// Returns the asset to store for one value of `field`: the identity of its content, and
    /// nothing else.
    ///
    /// A receipt must fit the database of `access`, the record, the field, the caller, checksum and
    /// size, and its time must not have passed. A value without a valid receipt is accepted only
    /// when it equals one of `current`, the values of the field now (one, or those of a list):
    /// writing an existing value needs no proof, unless `strict`. The result depends only on
    /// `reader`, and the function changes nothing.
    ///
    /// - Throws: badRequest, with a reason that does not name the field, because the caller knows
    ///   where in the request it is.
    package static func verify(
        _ asset: WireAsset, current: [WireAsset], record: RecordName, field: FieldName,
        access: ZoneAccess, context: OperationContext, resources: ServiceResources,
        reader: any StorageReader
    ) throws(ServerError) -> WireAsset {
        if let fileExtension = asset.fileExtension, !FileExtension.isValid(fileExtension.utf8) {
            throw ServerError(
                .badRequest,
                "The asset's fileExtension has 1 to \(FileExtension.maximumBytes) bytes, and no "
                    + "control characters, slashes or marks of text direction.")
        }
        var stored = WireAsset(fileChecksum: asset.fileChecksum, size: asset.size)
        stored.fileExtension = asset.fileExtension
        let isStrict = resources.settings.isStrict
        if !isStrict,
            let same = current.first(where: {
                $0.fileChecksum == stored.fileChecksum && $0.size == stored.size
            })
        {
            stored.sha256 = same.sha256
            stored.fileExtension = asset.fileExtension ?? same.fileExtension
            return stored
        }
        guard let token = asset.receipt else {
            throw ServerError(
                .badRequest,
                "The asset has no receipt: bring its bytes to a URL of assets/upload, or get a "
                    + "writable value from assets/rereference.")
        }
        let database = access.zone.key.database
        let isWhole = asset.wrappingKey != nil && asset.referenceChecksum != nil
        guard isWhole || !isStrict || database.isPublic else {
            throw ServerError(
                .badRequest, "The asset lacks wrappingKey or referenceChecksum.")
        }
        guard let receipt = AssetReceipt(token, seal: resources.seal),
            receipt.database == database, receipt.user == access.user?.name,
            receipt.fits(record, field),
            receipt.fileChecksum == asset.fileChecksum, receipt.size == asset.size,
            echoes(asset, token)
        else {
            throw ServerError(
                .badRequest,
                "The asset's receipt is not for this content, record, field, database and user.")
        }
        guard context.milliseconds <= receipt.expiresMilliseconds,
            let row = try reader.asset(database, fileChecksum: asset.fileChecksum),
            row.size == asset.size
        else {
            throw ServerError(
                .badRequest, "The asset's receipt has expired: upload the bytes again.")
        }
        stored.sha256 = row.sha256
        return stored
    }

    /// Returns whether the other keys that the client sends are those that it was given.
    private static func echoes(_ asset: WireAsset, _ receipt: Text) -> Bool {
        (asset.wrappingKey.map { $0 == AssetReceipt.wrappingKey(of: receipt) } ?? true)
            && (asset.referenceChecksum.map {
                $0 == AssetReceipt.referenceChecksum(of: receipt)
            } ?? true)
    }

    /// Returns a URL that shows the asset to anybody who holds it, while the caller of `context`
    /// may read the record and the record refers to the asset, for at most `downloadURLSeconds`.
    /// Its last part is the literal `${f}`, which a client may replace by a file name.
    package static func downloadURL(
        _ asset: WireAsset, record: RecordName, field: FieldName, access: ZoneAccess,
        context: OperationContext, resources: ServiceResources
    ) -> Text {
        let ticket = DownloadTicket(
            place: AssetPlace(zone: access.zone.key, record: record, field: field),
            fileChecksum: asset.fileChecksum, viewer: context.caller.user?.name,
            expiresMilliseconds: context.milliseconds
                + Int64(resources.settings.downloadURLSeconds) * 1000)
        return Text(
            context.baseURL + "/assets/down/" + ticket.sealed(by: resources.seal).string + "/${f}")
    }
}
