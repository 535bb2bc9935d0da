import RecordModel
import RecordServerCore
import RecordWire

/// One request of the matrix, with what has to become of it for each role.
struct AccessProbe {
    let kind: AccessIDKind
    let what: String
    /// Nil for the database where the role has the zone of the owner.
    let scope: DatabaseScope?
    /// What in the answer counts as having seen something.
    let sight: String
    let expected: AccessRow
    let body: (AccessIDs) -> JSONValue

    init(
        _ kind: AccessIDKind, _ what: String = "", in scope: DatabaseScope? = nil,
        sight: String = AccessScene.canary, _ expected: AccessRow,
        _ body: @escaping (AccessIDs) -> JSONValue
    ) {
        self.kind = kind
        self.what = what
        self.scope = scope
        self.sight = sight
        self.expected = expected
        self.body = body
    }
}

extension AccessProbe {
    /// The probes of an endpoint, in the order in which they are sent. An endpoint without an entry
    /// does not compile.
    static func all(_ endpoint: Endpoint) -> [AccessProbe] {
        switch endpoint {
        case .recordsQuery: queries
        case .recordsLookup: lookups
        case .recordsModify: modifications + publicModifications
        case .recordsChanges: feed { zone in .object(zone) }
        case .changesZone: feed { zone in ["zones": [.object(zone)]] }
        case .recordsResolve, .recordsAccept: invitations
        case .recordsRequestAccess: accessRequests
        case .recordsDecline: declinedInvitations
        case .recordsHistory: formerStates
        case .zonesList: zoneList
        case .zonesLookup: zoneLookups
        case .zonesModify: zoneModifications
        case .zonesChanges, .changesDatabase: databaseFeed
        case .subscriptionsList: subscriptionList
        case .subscriptionsLookup: subscriptionLookups
        case .subscriptionsModify: subscriptionModifications
        case .usersCaller, .usersCurrent: identity
        case .usersDiscover: discovery
        case .usersLookupEmail, .usersLookupID: userLookups(by: endpoint)
        case .usersLookupContacts: contacts
        case .assetsUpload: uploads
        case .assetsRereference: rereferences
        case .tokensCreate: couriers
        case .tokensRegister: registrations
        case .schemaExport, .schemaValidate, .schemaImport, .schemaDeploy, .schemaReset:
            schemas(endpoint)
        }
    }
}
