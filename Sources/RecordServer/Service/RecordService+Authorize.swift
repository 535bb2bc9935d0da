import RecordWire

extension RecordService {
    /// Which kind of credential may call what (reference §2.1). Rights to zones, records and types
    /// are decided later, in the transaction that uses them.
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
    /// Not for keys: it is about a person.
    package var needsPerson: Bool {
        switch self {
        // Who a key acts as, and who agrees to be found, it may know: it acts as a user.
        case .recordsResolve, .recordsAccept, .recordsRequestAccess, .recordsDecline: true
        default: false
        }
    }

    /// Whether nothing is stored by it, so that it can be refused when it is done.
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

    /// Reads of the public database, as far as the schema grants them to `_world`.
    package var isOpenToAnyone: Bool {
        switch self {
        case .recordsQuery, .recordsLookup, .zonesList, .zonesLookup: true
        default: false
        }
    }
}
