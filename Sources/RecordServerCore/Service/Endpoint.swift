package import RecordWire

/// The operations of `/database/1/{container}/{environment}/{database}/{operation}` and of
/// `/device/1/{container}/{environment}/{operation}`.
///
/// This is the route table: the router, the access matrix of the tests and the documentation are
/// made from it.
package enum Endpoint: String, CaseIterable, Sendable {
    case recordsQuery = "records/query"
    case recordsLookup = "records/lookup"
    case recordsModify = "records/modify"
    case recordsChanges = "records/changes"
    case recordsResolve = "records/resolve"
    case recordsAccept = "records/accept"
    case zonesList = "zones/list"
    case zonesLookup = "zones/lookup"
    case zonesModify = "zones/modify"
    case zonesChanges = "zones/changes"
    case changesDatabase = "changes/database"
    case changesZone = "changes/zone"
    case subscriptionsList = "subscriptions/list"
    case subscriptionsLookup = "subscriptions/lookup"
    case subscriptionsModify = "subscriptions/modify"
    case usersCaller = "users/caller"
    case usersCurrent = "users/current"
    case usersDiscover = "users/discover"
    case usersLookupEmail = "users/lookup/email"
    case usersLookupID = "users/lookup/id"
    case usersLookupContacts = "users/lookup/contacts"
    case assetsUpload = "assets/upload"
    case assetsRereference = "assets/rereference"
    case tokensCreate = "tokens/create"
    case tokensRegister = "tokens/register"
    // Extensions.
    case recordsRequestAccess = "records/requestAccess"
    case recordsDecline = "records/decline"
    case recordsHistory = "records/history"
    // Extensions, for administrators.
    case schemaExport = "schema/export"
    case schemaValidate = "schema/validate"
    case schemaImport = "schema/import"
    case schemaDeploy = "schema/deploy"
    case schemaReset = "schema/reset"

    /// The databases whose path has this operation.
    package var scopes: Set<DatabaseScope> {
        switch self {
        case .recordsQuery, .recordsLookup, .recordsModify, .zonesList, .zonesLookup,
            .subscriptionsList, .subscriptionsLookup, .subscriptionsModify, .assetsUpload,
            .assetsRereference, .tokensCreate, .tokensRegister:
            [.public, .private, .shared]
        case .recordsChanges, .zonesChanges, .changesDatabase, .changesZone:
            [.private, .shared]
        case .zonesModify: [.private, .shared]
        // The states of a shared zone belong to its owner.
        case .recordsHistory: [.private]
        // Apple documents these for the public database. Clients call them in whichever database
        // they use.
        case .usersCaller, .usersCurrent, .usersDiscover, .usersLookupEmail, .usersLookupID,
            .usersLookupContacts:
            [.public, .private, .shared]
        case .recordsResolve, .recordsAccept, .recordsRequestAccess, .recordsDecline, .schemaExport,
            .schemaValidate, .schemaImport, .schemaDeploy, .schemaReset:
            [.public]
        }
    }

    /// Indicates whether Apple documents the operation as GET. The server answers such an operation
    /// to POST too.
    package var acceptsGet: Bool {
        switch self {
        case .zonesList, .subscriptionsList, .usersCaller, .usersCurrent, .usersDiscover,
            .schemaExport:
            true
        default: false
        }
    }

    /// Indicates whether the operation belongs under `/device/1/...`. The server answers it under
    /// `/database/...` too.
    package var isDevice: Bool { self == .tokensCreate || self == .tokensRegister }

    package var isAdministrative: Bool {
        switch self {
        case .schemaExport, .schemaValidate, .schemaImport, .schemaDeploy, .schemaReset: true
        default: false
        }
    }
}
