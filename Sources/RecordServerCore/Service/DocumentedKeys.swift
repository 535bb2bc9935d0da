import RecordModel
import RecordWire

/// The keys that Apple's reference has in the bodies of requests, for `strict`. A client may send
/// other keys: this server may understand them, but another server may not.
///
/// Source: CloudKit Web Services Reference, "Types and Dictionaries" and the page of each
/// operation. The check ignores the keys of people and the keys that only answers have.
indirect enum DocumentedKeys: Sendable {
    /// Any value, unchecked.
    case anything
    case object([String: DocumentedKeys])
    case list(DocumentedKeys)
    /// An object whose keys are data.
    case members(DocumentedKeys)
    /// One value, or a list of such values.
    case either(DocumentedKeys)

    /// Checks the keys of a value and of everything inside it.
    ///
    /// - Throws: badRequest that names the first key which is not in Apple's reference.
    func check(_ json: JSONReader) throws(ServerError) {
        switch (self, json.value) {
        case (.object(let known), .object(let members)):
            for member in members {
                let key = member.key.string
                let reader = JSONReader(member.value, at: .member(key, of: json.path))
                guard let keys = known[key] else {
                    throw reader.error("is no key of Apple's reference, and this server is strict.")
                }
                if key == "recordName", let name = member.value.string,
                    !RecordName(bytes: name.utf8).isDocumented
                {
                    throw reader.error(
                        "is no name of a record: 1 to 255 characters, printable ASCII, and this "
                            + "server is strict.")
                }
                try keys.check(reader)
            }
        case (.members(let keys), .object(let members)):
            for member in members {
                try keys.check(
                    JSONReader(member.value, at: .member(member.key.string, of: json.path)))
            }
        case (.either(let keys), .array), (.list(let keys), .array):
            for element in try json.array() { try keys.check(element) }
        case (.either(let keys), _): try keys.check(json)
        default: break
        }
    }
}

extension DocumentedKeys {
    /// Makes the keys of a request. Returns nil for an operation that Apple does not have.
    init?(_ endpoint: Endpoint) {
        switch endpoint {
        case .recordsQuery:
            self = Self.request([
                "query": Self.query, "zoneWide": .anything, "resultsLimit": .anything,
                "continuationMarker": .anything,
            ])
        case .recordsLookup:
            self = Self.request([
                "records": .list(.object(["recordName": .anything, "desiredKeys": .anything]))
            ])
        case .recordsModify:
            self = Self.request([
                "operations": .list(.object(["operationType": .anything, "record": Self.record])),
                "atomic": .anything,
            ])
        case .recordsChanges: self = .object(Self.feed)
        case .changesZone:
            self = .object(
                Self.feed.merging(["zones": .list(.object(Self.feed))]) { $1 }
            )
        case .changesDatabase, .zonesChanges:
            self = Self.plain(["syncToken", "metaSyncToken", "resultsLimit"])
        case .recordsResolve, .recordsAccept:
            self = .object([
                "shortGUIDs": .list(
                    .object([
                        "value": .anything, "shouldFetchRootRecord": .anything,
                        "rootRecordDesiredKeys": .anything,
                    ]))
            ])
        case .zonesLookup:
            self = .object([
                "zones": .list(
                    .object(Self.zoneKeys.merging(["zoneID": Self.zone]) { $1 }))
            ])
        case .zonesModify:
            let zone = DocumentedKeys.object([
                "zoneID": Self.zone, "syncToken": .anything, "atomic": .anything,
            ])
            self = .object([
                "operations": .list(.object(["operationType": .anything, "zone": zone]))
            ])
        case .subscriptionsLookup:
            self = .object(["subscriptions": .list(.object(["subscriptionID": .anything]))])
        case .subscriptionsModify:
            self = .object([
                "operations": .list(
                    .object(["operationType": .anything, "subscription": Self.subscription]))
            ])
        case .usersDiscover: self = .object(["lookupInfos": .anything])
        case .usersLookupEmail, .usersLookupID, .usersLookupContacts:
            self = .object(["users": .anything])
        case .zonesList, .subscriptionsList, .usersCaller, .usersCurrent: self = .object([:])
        case .assetsUpload:
            let token = ["recordName", "recordType", "fieldName"]
            self = .object(["zoneID": Self.zone, "tokens": .list(Self.plain(token))])
        case .assetsRereference:
            self = .object([
                "zoneID": Self.zone, "assets": .list(Self.plain(["recordName", "fieldName"])),
            ])
        case .tokensCreate, .tokensRegister:
            self = Self.plain(["apnsEnvironment", "apnsToken", "clientId"])
        case .recordsRequestAccess, .recordsDecline, .recordsHistory, .schemaExport,
            .schemaValidate, .schemaImport,
            .schemaDeploy,
            .schemaReset:
            return nil
        }
    }

    private static func plain(_ keys: [String]) -> DocumentedKeys { .object(members(keys)) }

    private static func members(_ keys: [String]) -> [String: DocumentedKeys] {
        Dictionary(uniqueKeysWithValues: keys.map { ($0, .anything) })
    }

    /// Returns `keys` together with the keys that all requests for records have.
    private static func request(_ keys: [String: DocumentedKeys]) -> DocumentedKeys {
        let common: [String: DocumentedKeys] = [
            "zoneID": zone, "desiredKeys": .anything, "numbersAsStrings": .anything,
        ]
        return .object(common.merging(keys) { $1 })
    }

    private static let feed: [String: DocumentedKeys] = members([
        "syncToken", "resultsLimit", "desiredKeys", "desiredRecordTypes", "reverse",
        "numbersAsStrings", "numberAsStrings",
    ]).merging(["zoneID": zone]) { $1 }

    /// The keys of a zone ID. Clients send `ownerName`, and Apple's service answers it.
    private static let zoneKeys = members([
        "zoneName", "ownerRecordName", "ownerName", "zoneType",
    ])
    private static let zone = DocumentedKeys.object(zoneKeys)

    /// The keys of the dictionaries of references, assets and places. The readers know which one it
    /// is.
    private static let value: [String: DocumentedKeys] = members([
        "recordName", "action", "fileChecksum", "size", "referenceChecksum", "wrappingKey",
        "receipt", "downloadURL", "latitude", "longitude", "horizontalAccuracy",
        "verticalAccuracy", "altitude", "speed", "course", "timestamp",
    ]).merging(["zoneID": zone]) { $1 }

    private static let field = DocumentedKeys.object([
        "value": .either(.object(value)), "type": .anything, "isEncrypted": .anything,
    ])

    /// The keys of a record, with the keys that only answers have: clients send back the
    /// dictionaries that they received.
    private static let record = DocumentedKeys.object(
        members([
            "recordName", "recordType", "recordChangeTag", "createShortGUID", "publicPermission",
            "participants", "created", "modified", "deleted", "pluginFields", "share", "shortGUID",
            "stableUrl", "expirationTime", "owner", "currentUserParticipant",
        ]).merging([
            "fields": .members(field), "zoneID": zone,
            "parent": .object(["recordName": .anything, "zoneID": zone]),
            "forRecord": plain(["recordName", "recordChangeTag"]),
        ]) { $1 })

    private static let query = DocumentedKeys.object([
        "recordType": .anything,
        "filterBy": .list(
            .object([
                "comparator": .anything, "fieldName": .anything, "systemFieldName": .anything,
                "fieldValue": field, "distance": .anything,
            ])),
        "sortBy": .list(
            plain(["fieldName", "systemFieldName", "ascending", "relativeLocation"])),
    ])

    private static let subscription = DocumentedKeys.object(
        members([
            "subscriptionID", "subscriptionType", "firesOn", "firesOnce", "zoneWide",
            "notificationInfo",
        ]).merging(["zoneID": zone, "query": query]) { $1 })
}
