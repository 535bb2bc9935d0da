import RecordModel
package import RecordWire

/// The settings of the operations' rules that an operator can change.
package struct ServiceSettings: Sendable, Hashable {
    /// The most operations of a modify, items of a lookup, or tokens of an upload.
    package var maximumItems = ServerLimits.itemsPerRequest
    /// The default and the maximum of `resultsLimit`.
    package var maximumResults = 200
    /// The maximum of `resultsLimit` in change feeds for clients that ask for more (an extension).
    package var maximumFeedResults = 2_000
    /// The most bytes of all fields of a record, without assets.
    package var recordBytes = ServerLimits.recordBytes
    package var assetBytes = ServerLimits.assetBytes
    package var fieldsPerType = ServerLimits.fieldsPerType
    package var zonesPerDatabase = ServerLimits.zonesPerDatabase
    package var participantsPerShare = ServerLimits.participantsPerShare
    /// The most invitations from one person to another that wait for an answer.
    package var invitationsPerPerson = 50
    package var deleteSelfSources = ServerLimits.deleteSelfSources
    /// The quota for the private databases of a user, in bytes, where the user has no quota of
    /// their own.
    package var quotaBytes: Int64 = 10 << 30
    /// The quota for each public database, in bytes.
    package var publicQuotaBytes: Int64 = 10 << 30
    /// The most record types of one container that saves in development make.
    package var typesPerContainer = ServerLimits.typesPerContainer
    /// The most tombstones of a zone. Beyond that, the oldest ones are removed early.
    package var tombstonesPerZone = 100_000
    /// The most trees of records in one share. When the share ends, their rows change at once.
    package var treesPerShare = 5_000
    /// The most records that one transaction takes along into another share.
    package var membersPerTransaction = 200
    /// The longest time that a request waits while the server prepares it, in transactions of that
    /// size. After that the server asks the client to send the request again.
    package var preparationSeconds = 25.0
    package var uploadURLSeconds = 15 * 60
    package var downloadURLSeconds = 60 * 60
    /// The time for which the receipt of an upload can be used.
    package var receiptSeconds = 24 * 3600
    /// The time for which a tombstone is kept. Sync tokens that are older expire.
    package var tombstoneSeconds = 90 * 24 * 3600
    /// The time for which former states of records are kept.
    package var historySeconds = 90 * 24 * 3600
    /// The most former states of a record. With 0 none is kept.
    package var versionsPerRecord = 20
    package var operationResultSeconds = 24 * 3600
    /// Indicates whether the server refuses everything that Apple's text forbids or does not have,
    /// and answers no more than Apple's text has.
    package var isStrict = false
    /// Indicates whether answers tag lists as plain `LIST`.
    package var plainListTags = false

    package init() {}
}

extension ServiceSettings {
    /// The limits that the readers of requests need to know.
    package var requestLimits: RequestLimits {
        RequestLimits(
            maximumItems: maximumItems, maximumResults: maximumResults,
            maximumFeedResults: maximumFeedResults, isStrict: isStrict)
    }
}
