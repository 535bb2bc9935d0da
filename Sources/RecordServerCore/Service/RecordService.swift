package import RecordModel
package import RecordWire

/// The operations of the protocol, without HTTP: each takes a body and its caller, and returns an
/// answer.
///
/// Every rule that depends on stored state is decided inside the transaction that acts on it.
package final class RecordService: Sendable {
    package let storage: any Storage
    package let assets: any AssetStore
    /// Makes and checks the values that clients keep and send back: sync tokens, markers, receipts,
    /// URLs.
    package let seal: Seal
    package let settings: ServiceSettings
    package let push: PushHub
    package let throttles: any Throttles
    /// The bytes of the uploads that this process is receiving now.
    let incoming = IncomingBytes()
    let recent = RecentRecords()

    package init(
        storage: any Storage, assets: any AssetStore, seal: Seal,
        settings: ServiceSettings, push: PushHub, throttles: any Throttles = LocalThrottles()
    ) {
        self.throttles = throttles
        self.storage = storage
        self.assets = assets
        self.seal = seal
        self.settings = settings
        self.push = push
    }

    /// Checks a request before its body is read: that the operation exists in this database, and
    /// that this caller may use it at all.
    package func admit(_ context: OperationContext) throws(ServerError) {
        guard context.endpoint.scopes.contains(context.scope) else {
            throw ServerError(
                .badRequest,
                "\(context.endpoint.rawValue) does not exist in the \(context.scope) database.")
        }
        try authorize(context)
    }

    /// Returns the answer to one request as JSON, with status 200. `body` is an empty object when
    /// the request has none.
    package func answer(_ body: JSONValue, _ context: OperationContext) async throws(ServerError)
        -> [UInt8]
    {
        try await longAnswer(body, context).bytes
    }

    /// Returns the answer to one request in parts, because it may be long.
    package func longAnswer(
        _ body: JSONValue, _ context: OperationContext
    ) async throws(ServerError) -> Answer {
        try admit(context)
        if settings.isStrict, let keys = DocumentedKeys(context.endpoint) {
            try keys.check(JSONReader(body))
        }
        switch context.endpoint {
        case .recordsQuery: return try await queryRecords(body, context)
        case .recordsLookup: return try await lookupRecords(body, context)
        case .recordsModify: return try await modifyRecords(body, context)
        case .recordsChanges: return try await recordChanges(body, context)
        case .changesZone: return try await zoneChanges(body, context)
        default: return Answer(try await shortAnswer(body, context))
        }
    }

    private func shortAnswer(
        _ body: JSONValue, _ context: OperationContext
    ) async throws(ServerError) -> [UInt8] {
        switch context.endpoint {
        case .recordsQuery, .recordsLookup, .recordsModify, .recordsChanges, .changesZone:
            return try await longAnswer(body, context).bytes
        case .recordsResolve: return try await resolveShortGUIDs(body, context)
        case .recordsAccept: return try await acceptShortGUIDs(body, context)
        case .recordsRequestAccess: return try await requestAccess(body, context)
        case .recordsDecline: return try await declineShortGUIDs(body, context)
        case .zonesList: return try await listZones(body, context)
        case .zonesLookup: return try await lookupZones(body, context)
        case .zonesModify: return try await modifyZones(body, context)
        case .zonesChanges: return try await zonesChanges(body, context)
        case .changesDatabase: return try await databaseChanges(body, context)
        case .subscriptionsList: return try await listSubscriptions(body, context)
        case .subscriptionsLookup: return try await lookupSubscriptions(body, context)
        case .subscriptionsModify: return try await modifySubscriptions(body, context)
        case .usersCaller, .usersCurrent: return try await currentUser(body, context)
        case .usersDiscover: return try await discoverUsers(body, context)
        case .usersLookupEmail, .usersLookupID, .usersLookupContacts:
            return try await lookupUsers(body, context)
        case .assetsUpload: return try await uploadTokens(body, context)
        case .assetsRereference: return try await rereferenceAssets(body, context)
        case .tokensCreate: return try await createPushToken(body, context)
        case .tokensRegister: return try await registerPushToken(body, context)
        case .schemaExport: return try await exportSchema(body, context)
        case .schemaValidate: return try await validateSchema(body, context)
        case .schemaImport: return try await importSchema(body, context)
        case .schemaDeploy: return try await deploySchema(body, context)
        case .schemaReset: return try await resetSchema(body, context)
        }
    }
}
