import RecordWire

extension RecordService {
    /// Checks that this kind of credential may call the operation (reference §2.1). Rights to
    /// zones, records and types are decided later, in the transaction that uses them.
    func authorize(_ context: OperationContext) throws(ServerError) {
        switch context.caller {
        case .user(let user):
            guard !context.endpoint.isAdministrative || user.isAdministrator else {
                throw ServerError(.accessDenied, "This operation is for administrators.")
            }
        case .serverKey(let user, _, let managesSchema) where context.endpoint.isAdministrative:
            guard managesSchema, user.isAdministrator else {
                throw ServerError(
                    .accessDenied,
                    "This key may not manage the schema: that takes one that was added with "
                        + "`key add --schema` and whose user is an administrator.")
            }
        case .serverKey:
            guard context.scope == .public, !context.endpoint.needsPerson else {
                throw ServerError(
                    .accessDenied,
                    "A server-to-server key may use records, zones, subscriptions, assets and "
                        + "users of the public database only.")
            }
        case .anonymous:
            guard context.scope == .public, context.endpoint.isOpenToAnyone else {
                throw ServerError(
                    .authenticationRequired, "This operation needs a user: sign in first.")
            }
        }
    }
}

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
            .usersLookupID, .usersLookupContacts, .schemaExport, .schemaValidate:
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
