package import RecordModel
package import RecordWire

/// What makes an asset value of a request acceptable, and where its bytes can be had
/// (reference §5.5, §12).
package enum AssetRules {
    /// The asset to store for one value of `field`, with nothing but checksum and size.
    ///
    /// A receipt must fit the database of `access`, the record, the field, the caller, checksum
    /// and size, and be in time. A value without receipt is only accepted when it equals one of
    /// `current`, the values of the field now (one, or those of a list). Pure over `reader`.
    ///
    /// - Throws: badRequest, with a reason that does not name the field: the caller knows where
    ///   in the request it is.
    package static func verify(
        _ asset: WireAsset, current: [WireAsset], record: RecordName, field: FieldName,
        access: ZoneAccess, context: OperationContext, service: RecordService,
        reader: any StorageReader
    ) throws(ServerError) -> WireAsset {
        throw ServerError(.badRequest, "The asset has no receipt.")
    }

    /// A URL that shows the asset to whoever holds it, while the caller of `context` may read
    /// the record and the record refers to the asset, at most `downloadURLSeconds`.
    package static func downloadURL(
        _ asset: WireAsset, record: RecordName, access: ZoneAccess, context: OperationContext,
        service: RecordService
    ) -> Text {
        ""
    }
}
