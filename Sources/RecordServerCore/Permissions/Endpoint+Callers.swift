extension Endpoint {
    /// Indicates whether the operation is about a person, so that a server-to-server key may not
    /// call it.
    package var needsPerson: Bool {
        switch self {
        // A key acts as a user, so it may learn which user that is and which users agree to be
        // found.
        case .recordsResolve, .recordsAccept, .recordsRequestAccess, .recordsDecline: true
        default: false
        }
    }

    /// Indicates whether the operation stores nothing, so that the server can still refuse it after
    /// it is done.
    package var isReading: Bool {
        switch self {
        case .recordsQuery, .recordsLookup, .recordsChanges, .recordsResolve, .zonesList,
            .zonesLookup, .zonesChanges, .changesDatabase, .changesZone, .subscriptionsList,
            .subscriptionsLookup, .usersCaller, .usersCurrent, .usersDiscover, .usersLookupEmail,
            .usersLookupID, .usersLookupContacts, .recordsHistory, .schemaExport, .schemaValidate:
            true
        case .recordsModify, .recordsAccept, .recordsRequestAccess, .recordsDecline, .zonesModify,
            .subscriptionsModify, .assetsUpload, .assetsRereference, .tokensCreate, .tokensRegister,
            .schemaImport, .schemaDeploy,
            .schemaReset:
            false
        }
    }

    /// Indicates whether the operation reads the public database. Anybody may call it, as far as
    /// the schema grants that to `_world`.
    package var isOpenToAnyone: Bool {
        switch self {
        case .recordsQuery, .recordsLookup, .zonesList, .zonesLookup: true
        default: false
        }
    }
}
