import RecordModel
package import RecordWire

/// What an operator can set of the operations' rules.
package struct ServiceSettings: Sendable, Hashable {
    /// Operations of a modify, items of a lookup, tokens of an upload.
    package var maximumItems = ServerLimits.itemsPerRequest
    /// Default and ceiling of `resultsLimit`.
    package var maximumResults = 200
    /// Ceiling of `resultsLimit` in change feeds for clients that ask for more (an extension).
    package var maximumFeedResults = 2_000
    /// All fields of a record without assets, in bytes.
    package var recordBytes = ServerLimits.recordBytes
    package var assetBytes = ServerLimits.assetBytes
    package var fieldsPerType = ServerLimits.fieldsPerType
    package var zonesPerDatabase = ServerLimits.zonesPerDatabase
    package var participantsPerShare = ServerLimits.participantsPerShare
    /// Invitations of one person to another that wait for an answer.
    package var invitationsPerPerson = 50
    package var deleteSelfSources = ServerLimits.deleteSelfSources
    /// For the private databases of a user, in bytes, where the user has no quota of its own.
    package var quotaBytes: Int64 = 10 << 30
    /// For each public database, in bytes.
    package var publicQuotaBytes: Int64 = 10 << 30
    /// Record types that saves in development make, of one container.
    package var typesPerContainer = ServerLimits.typesPerContainer
    /// Tombstones of a zone: beyond that the oldest go before their time.
    package var tombstonesPerZone = 100_000
    /// How many trees of records may be in one share: their rows change at once when it ends.
    package var treesPerShare = 5_000
    /// How many records one transaction takes along into another share.
    package var membersPerTransaction = 200
    /// How long a request may wait for what it needs to be prepared, in transactions of that size,
    /// before its client is asked to send it again.
    package var preparationSeconds = 25.0
    package var uploadURLSeconds = 15 * 60
    package var downloadURLSeconds = 60 * 60
    /// How long the receipt of an upload can be used.
    package var receiptSeconds = 24 * 3600
    /// How long a tombstone is kept: sync tokens that are older expire.
    package var tombstoneSeconds = 90 * 24 * 3600
    package var operationResultSeconds = 24 * 3600
    /// Refuses what Apple's text forbids or does not have, and answers no more than it has.
    package var isStrict = false
    /// Answers tag lists as plain `LIST`.
    package var plainListTags = false

    package init() {}
}

extension ServiceSettings {
    /// What the readers of requests need to know.
    package var requestLimits: RequestLimits {
        RequestLimits(
            maximumItems: maximumItems, maximumResults: maximumResults,
            maximumFeedResults: maximumFeedResults, isStrict: isStrict)
    }
}
