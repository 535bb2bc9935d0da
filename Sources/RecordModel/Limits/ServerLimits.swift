/// The limits of a recordfs-server: the defaults of its settings, and the limits that a mount
/// applies to a save in a synced zone. Both use one table, so that every record that is saved on
/// this machine can be uploaded.
///
/// Source of the figures: Apple, "Data Size Limits" of CloudKit Web Services, and TN3164; those of
/// requests, types and assets are this server's own.
package enum ServerLimits {
    /// The values of a record without its assets, in bytes, as `FieldValue.countedBytes` counts
    /// them.
    package static let recordBytes = 1_000_000
    /// The body of a request, in bytes.
    package static let requestBytes = 4 << 20
    /// The bytes of a request that are not the values of its one record.
    package static let requestOverheadBytes = 16 << 10
    /// The text of a record's file beside its values, in bytes. A longer one is not sent.
    package static let fileTextBytes = 1_000_000
    /// The elements of all lists of a record together.
    package static let listElements = 125_000
    /// The references of a record, also those in lists.
    package static let references = 10_000
    /// The assets of a record, also those in lists.
    package static let assets = 2_000
    /// The bytes of one asset, and therefore of one long value.
    package static let assetBytes: Int64 = 250 << 20
    /// The fields of a record type, without the twins of long values.
    package static let fieldsPerType = 256
    /// The record types of a container.
    package static let typesPerContainer = 1_000
    /// The zones of one user's private database.
    package static let zonesPerDatabase = 1_000
    /// The length of the longest chain of parents.
    package static let parentDepth = 1_000
    /// The number of records that are deleted with one record by `DELETE_SELF`.
    package static let deleteSelfSources = 750
    package static let participantsPerShare = 100
    /// The name of a record, type, field or zone, in bytes.
    package static let nameBytes = 255
    /// Operations of a modify, items of a lookup, tokens of an upload, zones created in one
    /// request.
    package static let itemsPerRequest = 200
}
