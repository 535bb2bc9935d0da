import RecordModel
import RecordWire
import Testing

/// A body with every key of an endpoint, and its reader.
struct RequestSample: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// What the body is read as; equal for equal requests.
    let read: @Sendable (JSONReader) throws -> AnyHashable
    /// The body that a client sends for what was read; nil for what is not of that type.
    let write: @Sendable (AnyHashable) -> [UInt8]?

    init<Request: Hashable & Sendable>(
        name: String, text: String, read: @escaping @Sendable (JSONReader) throws -> Request,
        write: @escaping @Sendable (Request) -> [UInt8]
    ) {
        self.name = name
        self.text = text
        self.read = { AnyHashable(try read($0)) }
        self.write = { ($0.base as? Request).map(write) }
    }

    var testDescription: String { name }

    static let checksum = "AQAAAAAAAAAAAAAAAAAAAAAAAAAA"

    static let all: [RequestSample] = [
        query, lookup, modify, shareModify, recordChanges, databaseChanges, zonesChanges,
        zoneChanges, zonesLookup, zonesModify, shortGUIDs, discover, lookupUsers, upload,
        rereference, createToken, registerToken, subscriptionsLookup, subscriptionsModify,
    ]

    static let query = RequestSample(
        name: "records/query",
        text: """
            {"zoneID": {"zoneName": "Work", "ownerRecordName": "_a"}, "zoneWide": true,
             "resultsLimit": 7, "continuationMarker": "m", "desiredKeys": ["a", "b", "a"],
             "numbersAsStrings": true, "getCurrentSyncToken": true,
             "query": {"recordType": "Note",
               "filterBy": [
                 {"comparator": "NEAR", "fieldName": "place", "distance": 10.5,
                  "fieldValue": {"type": "LOCATION", "value": {"latitude": 1, "longitude": 2}}},
                 {"comparator": "EQUALS", "systemFieldName": "recordName",
                  "fieldValue": {"type": "REFERENCE", "value": {"recordName": "n"}}}],
               "sortBy": [
                 {"fieldName": "place", "ascending": false,
                  "relativeLocation": {"latitude": 1, "longitude": 2}},
                 {"systemFieldName": "createdTimestamp"}]}}
            """,
        read: { try QueryRequest($0) },
        write: { Array(printed($0).utf8) })

    static let lookup = RequestSample(
        name: "records/lookup",
        text: """
            {"records": [{"recordName": "n", "desiredKeys": ["a"]}, {"recordName": "m"}],
             "zoneID": {"zoneName": "Work"}, "desiredKeys": ["b"], "numbersAsStrings": false,
             "wantsAssetDetails": true, "wantsFileText": true,
             "getCurrentSyncToken": false}
            """,
        read: { try LookupRequest($0) },
        write: { Array(printed($0).utf8) })

    static let modify = RequestSample(
        name: "records/modify",
        text: """
            {"zoneID": {"zoneName": "Work"}, "atomic": true, "desiredKeys": ["a"],
             "numbersAsStrings": true, "operationID": "op-1", "getCurrentSyncToken": true,
             "opensNumbers": true,
             "operations": [
               {"operationType": "create", "record": {"recordType": "Note", "recordName": "n",
                 "createShortGUID": true, "fileText": "{ }", "parent": {"recordName": "p"}, "fields": {
                   "s": {"type": "STRING", "value": "x", "isEncrypted": true, "modified": "1"},
                   "i": {"type": "INT64", "value": 1},
                   "d": {"type": "DOUBLE", "value": 1.5},
                   "t": {"type": "TIMESTAMP", "value": 1},
                   "b": {"type": "BYTES", "value": "AAAA"},
                   "e": {"type": "ENCRYPTED_BYTES", "value": "AAAA"},
                   "l": {"type": "LOCATION", "value": {"latitude": 1, "longitude": 2,
                     "horizontalAccuracy": 1, "verticalAccuracy": 1, "altitude": 1, "speed": 1,
                     "course": 1, "timestamp": 1}},
                   "r": {"type": "REFERENCE", "value": {"recordName": "q", "action": "NONE",
                     "zoneID": {"zoneName": "Other", "ownerName": "_b"}}},
                   "a": {"type": "ASSETID", "value": {"fileChecksum": "\(checksum)", "size": 3,
                     "referenceChecksum": "r", "wrappingKey": "w", "receipt": "c",
                     "downloadURL": "u"}},
                   "ls": {"type": "STRING_LIST", "value": ["x"]}}}},
               {"operationType": "update", "record": {"recordName": "m",
                 "recordChangeTag": "1g", "fields": {}}}]}
            """,
        read: { try modified($0) },
        write: { Array(printed($0).utf8) })

    static let shareModify = RequestSample(
        name: "records/modify of a share",
        text: """
            {"operations": [{"operationType": "create", "record": {
               "recordType": "cloudkit.share", "recordName": "share-n",
               "forRecord": {"recordName": "n", "recordChangeTag": "4"},
               "publicPermission": "NONE",
               "fields": {"cloudkit.title": {"type": "STRING", "value": "Plans"}},
               "participants": [{"participantId": "p", "type": "USER",
                 "permission": "READ_WRITE", "acceptanceStatus": "INVITED",
                 "userIdentity": {"userRecordName": "_b", "lookupInfo": {
                   "emailAddress": "b@example.org", "phoneNumber": "+1"}}}],
               "denyAccessRequests": true,
               "requesters": [{"requesterInformation": {"userRecordName": "_c"}}],
               "blocked": [{"blockedInformation": {"lookupInfo": {"emailAddress": "d@e.org"}}}],
               "oneTimeStableUrlInfo": {"oneTimeLinks": [{"participantId": ["q"]}]}}}]}
            """,
        read: { try modified($0) },
        write: { Array(printed($0).utf8) })

    static let recordChanges = RequestSample(
        name: "records/changes",
        text: """
            {"zoneID": {"zoneName": "Work"}, "syncToken": "t", "resultsLimit": 5,
             "desiredKeys": ["a"], "numbersAsStrings": true}
            """,
        read: { try ZoneChangesRequest($0) },
        write: { Array(printed($0).utf8) })

    static let databaseChanges = RequestSample(
        name: "changes/database", text: #"{"syncToken": "t", "resultsLimit": 5}"#,
        read: { try DatabaseChangesRequest($0) },
        write: { $0.body() })

    static let zonesChanges = RequestSample(
        name: "zones/changes", text: #"{"metaSyncToken": "t", "resultsLimit": 5}"#,
        read: { try DatabaseChangesRequest($0) },
        write: { $0.body() })

    static let zoneChanges = RequestSample(
        name: "changes/zone",
        text: """
            {"desiredKeys": ["a"], "numberAsStrings": true, "resultsLimit": 9, "reverse": true,
             "desiredRecordTypes": ["Note"],
             "zones": [
               {"zoneID": {"zoneName": "A"}, "syncToken": "t", "desiredKeys": ["b"],
                "desiredRecordTypes": ["Topic"], "reverse": false, "resultsLimit": 3,
                "numbersAsStrings": false},
               {"zoneID": {"zoneName": "B"}}]}
            """,
        read: { try ZoneChangesRequest.list($0) },
        write: { ZoneChangesRequest.body($0) })

    static let zonesLookup = RequestSample(
        name: "zones/lookup", text: #"{"zones": [{"zoneName": "A", "ownerName": "_a"}]}"#,
        read: { try ZoneIdentifier.list($0) },
        write: { ZoneIdentifier.lookupBody($0) })

    static let zonesModify = RequestSample(
        name: "zones/modify",
        text: """
            {"operations": [
              {"operationType": "create", "zone": {"zoneID": {"zoneName": "A"}}},
              {"operationType": "delete", "zone": {"zoneID": {"zoneName": "B"}}, "onlyEmpty": true}]}
            """,
        read: { try ZoneOperation.list($0) },
        write: { ZoneOperation.body($0) })

    static let shortGUIDs = RequestSample(
        name: "records/resolve",
        text: """
            {"shortGUIDs": [{"value": "0Ab", "shouldFetchRootRecord": true,
               "rootRecordDesiredKeys": ["a"]}]}
            """,
        read: { try ShortGUIDRequest.list($0) },
        write: { ShortGUIDRequest.body($0) })

    static let discover = RequestSample(
        name: "users/discover",
        text: """
            {"lookupInfos": [{"emailAddress": "a@example.org", "phoneNumber": "+1",
               "userRecordName": "_a"}]}
            """,
        read: { try UserLookup.discoverList($0) },
        write: { UserLookup.discoverBody($0) })

    static let lookupUsers = RequestSample(
        name: "users/lookup",
        text: #"{"users": [{"emailAddress": "a@example.org", "userRecordName": "_a"}]}"#,
        read: { try UserLookup.legacyList($0) },
        write: { UserLookup.legacyBody($0) })

    static let upload = RequestSample(
        name: "assets/upload",
        text: """
            {"zoneID": {"zoneName": "Work"},
             "tokens": [{"recordName": "n", "recordType": "Note", "fieldName": "photo"}]}
            """,
        read: { try AssetUploadBody($0) },
        write: { Array(printed($0).utf8) })

    static let rereference = RequestSample(
        name: "assets/rereference",
        text: """
            {"zoneID": {"zoneName": "Work"},
             "assets": [{"recordName": "n", "fieldName": "photo"}]}
            """,
        read: { try RereferenceBody($0) },
        write: { Array(printed($0).utf8) })

    static let createToken = RequestSample(
        name: "tokens/create",
        text: #"{"apnsEnvironment": "development", "clientId": "7c"}"#,
        read: { try PushTokenBody($0) },
        write: { Array(printed($0).utf8) })

    static let registerToken = RequestSample(
        name: "tokens/register",
        text: #"{"apnsEnvironment": "production", "apnsToken": "b64", "clientId": "7c"}"#,
        read: { try PushTokenBody($0) },
        write: { Array(printed($0).utf8) })

    static let subscriptionsLookup = RequestSample(
        name: "subscriptions/lookup", text: #"{"subscriptions": [{"subscriptionID": "s"}]}"#,
        read: { try WireSubscription.lookupList($0) },
        write: { WireSubscription.lookupBody($0) })

    static let subscriptionsModify = RequestSample(
        name: "subscriptions/modify",
        text: """
            {"operations": [
              {"operationType": "create", "subscription": {"subscriptionID": "s",
                "subscriptionType": "query", "zoneID": {"zoneName": "Work"},
                "query": {"recordType": "Note", "filterBy": [{"comparator": "EQUALS",
                  "fieldName": "a", "fieldValue": {"type": "STRING", "value": "x"}}]},
                "firesOn": ["create", "delete"], "firesOnce": true, "zoneWide": false,
                "notificationInfo": {"alertBody": "b", "alertLocalizationKey": "k",
                  "alertLocalizationArgs": ["a"], "alertActionLocalizationKey": "k",
                  "alertLaunchImage": "i", "soundName": "s", "shouldBadge": true,
                  "shouldSendContentAvailable": false}}},
              {"operationType": "delete", "subscription": {"subscriptionID": "s"}}]}
            """,
        read: { try SubscriptionOperation.list($0) },
        write: { SubscriptionOperation.body($0) })

    /// A modify request, where what is wrong with an operation is thrown, too.
    private static func modified(_ json: JSONReader) throws -> ModifyRequest {
        let request = try ModifyRequest(json)
        for case .malformed(_, let error) in request.items { throw error }
        return request
    }
}
