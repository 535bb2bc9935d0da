package import RecordModel

/// One of the seven operations of records/modify (CloudKit Web Services Reference,
/// Modifying Records).
package enum RecordOperationType: String, CaseIterable, Sendable {
    case create, update, forceUpdate, replace, forceReplace, delete, forceDelete
}

package struct RecordOperation: Hashable, Sendable {
    package var type: RecordOperationType
    package var record: RecordDictionary
    package init(type: RecordOperationType, record: RecordDictionary) {
        self.type = type
        self.record = record
    }
}

/// The parts of records that a request asks for.
package struct RecordProjection: Hashable, Sendable {
    /// The names of the fields. They are nil for all fields.
    package var desiredKeys: [FieldName]?
    package var numbersAsStrings: Bool
    /// An extension: assets with `sha256` and `fileExtension`.
    package var wantsAssetDetails = false
    /// An extension: records with `fileText`, when the answer has all fields.
    package var wantsFileText = false
    /// An extension: records and deletions with `gesture`, the origin of their last change.
    package var wantsGestures = false
    /// An extension: records without the keys that the client knows or does not use: the zone,
    /// plug-in fields, devices. A record that is requested without fields has only its name, type
    /// and tag.
    package var isBrief = false
    /// An extension: long texts of a feed as changes of the texts that the client has, when the
    /// server knows them.
    package var wantsSplices = false
    package init(desiredKeys: [FieldName]? = nil, numbersAsStrings: Bool = false) {
        self.desiredKeys = desiredKeys
        self.numbersAsStrings = numbersAsStrings
    }
    package static let everything = RecordProjection()
}

package struct ModifyRequest: Hashable, Sendable {
    /// One entry for each operation. A malformed operation fails alone, with its error, in a
    /// database that is not atomic.
    package enum Item: Hashable, Sendable {
        case operation(RecordOperation)
        case malformed(recordName: RecordName?, ServerError)
    }
    package var items: [Item]
    package var zone: ZoneIdentifier
    /// Indicates whether the operations succeed or fail together. It is nil when the request does
    /// not say.
    package var atomic: Bool?
    package var projection: RecordProjection
    /// An extension: a retry with the same identifier gets the stored answer. At most 128 bytes.
    package var operationID: Text?
    package var wantsSyncToken: Bool
    /// An extension: new fields that hold numbers become `NUMBER`, which accepts whole numbers and
    /// fractions.
    package var opensNumbers = false
    /// An extension: the position up to which the client knows the feed of the zone. When nothing
    /// newer was in the feed, the answer has the token after this request, so that the client need
    /// not fetch its own changes again.
    package var knownToken: Text?
    /// The position up to which the client knows the database's feed, for the same purpose.
    package var knownDatabaseToken: Text?
    /// An extension: the `clientId` of the courier that need not be notified of the request, when
    /// the answer has such a token.
    package var clientID: Text?
    package init(items: [Item], zone: ZoneIdentifier) {
        self.items = items
        self.zone = zone
        projection = .everything
        wantsSyncToken = false
    }
}

package struct LookupRequest: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
        package var name: RecordName
        package var desiredKeys: [FieldName]?
        package init(name: RecordName, desiredKeys: [FieldName]? = nil) {
            self.name = name
            self.desiredKeys = desiredKeys
        }
    }
    package var items: [Item]
    package var zone: ZoneIdentifier
    package var projection: RecordProjection
    package var wantsSyncToken: Bool
    package init(items: [Item], zone: ZoneIdentifier) {
        self.items = items
        self.zone = zone
        projection = .everything
        wantsSyncToken = false
    }
}

/// The request of records/history, an extension.
package struct HistoryRequest: Hashable, Sendable {
    package var zone: ZoneIdentifier
    /// The record whose states are wanted. It is nil for those of all records of the zone.
    package var name: RecordName?
    /// The change before which the states ended. It is nil for the newest.
    package var before: Int64?
    package var resultsLimit: Int
    package init(zone: ZoneIdentifier, name: RecordName? = nil, resultsLimit: Int) {
        (self.zone, self.name, self.resultsLimit) = (zone, name, resultsLimit)
    }
}

package enum Comparator: String, CaseIterable, Sendable {
    case equals = "EQUALS"
    case notEquals = "NOT_EQUALS"
    case lessThan = "LESS_THAN"
    case lessThanOrEquals = "LESS_THAN_OR_EQUALS"
    case greaterThan = "GREATER_THAN"
    case greaterThanOrEquals = "GREATER_THAN_OR_EQUALS"
    case near = "NEAR"
    case containsAllTokens = "CONTAINS_ALL_TOKENS"
    case containsAnyTokens = "CONTAINS_ANY_TOKENS"
    case `in` = "IN"
    case notIn = "NOT_IN"
    case listContains = "LIST_CONTAINS"
    case notListContains = "NOT_LIST_CONTAINS"
    case notListContainsAny = "NOT_LIST_CONTAINS_ANY"
    case listContainsAll = "LIST_CONTAINS_ALL"
    case notListContainsAll = "NOT_LIST_CONTAINS_ALL"
    case beginsWith = "BEGINS_WITH"
    case notBeginsWith = "NOT_BEGINS_WITH"
    case listMemberBeginsWith = "LIST_MEMBER_BEGINS_WITH"
    case notListMemberBeginsWith = "NOT_LIST_MEMBER_BEGINS_WITH"
    /// A comparator that was seen in requests of iCloud's own web apps.
    case containsAny = "CONTAINS_ANY"
}

/// A system field in filters and sort orders, by its `systemFieldName` (CloudKit Web Services
/// Reference, Types and Dictionaries).
package enum SystemField: String, CaseIterable, Sendable {
    case recordName
    case share
    case parent
    case createdUserRecordName
    case createdTimestamp
    case modifiedTimestamp
    case modifiedUserRecordName

    /// The name in the schema language, such as `___recordID`.
    package var schemaName: String {
        switch self {
        case .recordName: "___recordID"
        case .share: "___share"
        case .parent: "___parent"
        case .createdUserRecordName: "___createdBy"
        case .createdTimestamp: "___createTime"
        case .modifiedTimestamp: "___modTime"
        case .modifiedUserRecordName: "___modifiedBy"
        }
    }
}

package enum QueryField: Hashable, Sendable {
    case field(FieldName)
    case system(SystemField)
}

package struct QueryFilter: Hashable, Sendable {
    package var comparator: Comparator
    package var field: QueryField
    /// The value with the tag that the request gave it, if any.
    package var value: WireField
    /// The distance in metres, for `near`.
    package var distance: Double?
    package init(
        comparator: Comparator, field: QueryField, value: WireField, distance: Double? = nil
    ) {
        self.comparator = comparator
        self.field = field
        self.value = value
        self.distance = distance
    }
}

package struct QuerySort: Hashable, Sendable {
    package var field: QueryField
    package var ascending: Bool
    package var relativeLocation: Location?
    package init(field: QueryField, ascending: Bool = true, relativeLocation: Location? = nil) {
        self.field = field
        self.ascending = ascending
        self.relativeLocation = relativeLocation
    }
}

/// The query dictionary, also inside subscriptions.
package struct WireQuery: Hashable, Sendable {
    package var recordType: RecordTypeName
    package var filters: [QueryFilter]
    package var sorts: [QuerySort]
    package init(recordType: RecordTypeName, filters: [QueryFilter] = [], sorts: [QuerySort] = []) {
        self.recordType = recordType
        self.filters = filters
        self.sorts = sorts
    }
}

package struct QueryRequest: Hashable, Sendable {
    package var query: WireQuery
    /// The zone. It is nil when the request names none.
    package var zone: ZoneIdentifier?
    package var zoneWide: Bool
    /// The number of results, which the reader clamps to the server's limit.
    package var resultsLimit: Int
    package var continuationMarker: Text?
    package var projection: RecordProjection
    package var wantsSyncToken: Bool
    package init(query: WireQuery, resultsLimit: Int) {
        self.query = query
        self.resultsLimit = resultsLimit
        zoneWide = false
        projection = .everything
        wantsSyncToken = false
    }
}

/// One zone of changes/zone. The older records/changes is a request for one zone.
package struct ZoneChangesRequest: Hashable, Sendable {
    package var zone: ZoneIdentifier
    package var syncToken: Text?
    package var projection: RecordProjection
    /// The record types. They are nil for all.
    package var desiredRecordTypes: [RecordTypeName]?
    /// Indicates whether the newest changes are first. Only the first page of a fetch can be
    /// requested in this way.
    package var reverse: Bool
    package var resultsLimit: Int
    package init(zone: ZoneIdentifier, resultsLimit: Int) {
        self.zone = zone
        self.resultsLimit = resultsLimit
        projection = .everything
        reverse = false
    }
}

package struct DatabaseChangesRequest: Hashable, Sendable {
    package var syncToken: Text?
    package var resultsLimit: Int
    package init(syncToken: Text? = nil, resultsLimit: Int) {
        self.syncToken = syncToken
        self.resultsLimit = resultsLimit
    }
}

package enum ZoneOperationType: String, CaseIterable, Sendable {
    case create, delete
}

package struct ZoneOperation: Hashable, Sendable {
    package var type: ZoneOperationType
    package var zone: ZoneIdentifier
    /// Indicates whether the server refuses the delete of a zone that has records (an extension),
    /// because no client has seen the deletion of all of them.
    package var onlyEmpty: Bool
    package init(type: ZoneOperationType, zone: ZoneIdentifier, onlyEmpty: Bool = false) {
        self.type = type
        self.zone = zone
        self.onlyEmpty = onlyEmpty
    }
}

/// One short GUID of records/resolve and records/accept (CloudKit Web Services Reference,
/// Types and Dictionaries).
package struct ShortGUIDRequest: Hashable, Sendable {
    package var value: Text
    package var shouldFetchRootRecord: Bool
    package var rootRecordDesiredKeys: [FieldName]?
    package init(value: Text, shouldFetchRootRecord: Bool = false) {
        self.value = value
        self.shouldFetchRootRecord = shouldFetchRootRecord
    }
}

/// One token of assets/upload.
package struct AssetUploadRequest: Hashable, Sendable {
    package var recordName: RecordName?
    package var recordType: RecordTypeName
    package var fieldName: FieldName
    package init(recordName: RecordName?, recordType: RecordTypeName, fieldName: FieldName) {
        self.recordName = recordName
        self.recordType = recordType
        self.fieldName = fieldName
    }
}

package struct WireSubscription: Hashable, Sendable {
    package enum Kind: String, CaseIterable, Sendable { case zone, query, database }
    package enum Event: String, CaseIterable, Sendable { case create, update, delete }
    package var subscriptionID: Text
    package var kind: Kind
    package var zone: ZoneIdentifier?
    package var query: WireQuery?
    package var firesOn: Set<Event>
    package var firesOnce: Bool
    package var zoneWide: Bool
    /// The notificationInfo dictionary as it was received, after a check of its known keys.
    package var notificationInfo: JSONValue?
    package init(subscriptionID: Text, kind: Kind) {
        self.subscriptionID = subscriptionID
        self.kind = kind
        firesOn = []
        firesOnce = false
        zoneWide = true
    }
}

package enum SubscriptionOperation: Hashable, Sendable {
    case create(WireSubscription)
    case update(WireSubscription)
    case delete(subscriptionID: Text)
}
