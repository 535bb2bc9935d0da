package import RecordModel
package import RecordWire

/// The operations of the protocol, without HTTP: each takes a body and its caller, and returns an
/// answer.
///
/// Every rule that depends on stored state is decided inside the transaction that acts on it.
package final class RecordService: Sendable {
    package let resources: ServiceResources

    package init(
        storage: any Storage, assets: any AssetStore, seal: Seal,
        settings: ServiceSettings, push: PushHub, throttles: any Throttles = LocalThrottles()
    ) {
        resources = ServiceResources(
            storage: storage, assets: assets, seal: seal, settings: settings, push: push,
            throttles: throttles)
    }

    package var storage: any Storage { resources.storage }
    package var assets: any AssetStore { resources.assets }
    package var seal: Seal { resources.seal }
    package var settings: ServiceSettings { resources.settings }
    package var push: PushHub { resources.push }

    /// The requests for access to shares, also for the pages of links.
    package var shareRequests: AccessRequesting { AccessRequesting(resources: resources) }

    /// Checks a request before its body is read: that the operation exists in this database, and
    /// that this caller may use it at all.
    package func admit(_ context: OperationContext) throws(ServerError) {
        guard context.endpoint.scopes.contains(context.scope) else {
            throw ServerError(
                .badRequest,
                "\(context.endpoint.rawValue) does not exist in the \(context.scope) database.")
        }
        try Permissions.decide(
            .call(context.endpoint, context.scope, by: context.caller)
        ).require()
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
        case .recordsQuery:
            return try await RecordQueries(resources: resources).queryRecords(body, context)
        case .recordsLookup:
            return try await RecordLookups(resources: resources).lookupRecords(body, context)
        case .recordsModify:
            return try await RecordBatches(resources: resources).modifyRecords(body, context)
        case .recordsChanges: return try await changeFeeds.recordChanges(body, context)
        case .changesZone: return try await changeFeeds.zoneChanges(body, context)
        default: return Answer(try await shortAnswer(body, context))
        }
    }

    private func shortAnswer(
        _ body: JSONValue, _ context: OperationContext
    ) async throws(ServerError) -> [UInt8] {
        switch context.endpoint {
        case .recordsQuery, .recordsLookup, .recordsModify, .recordsChanges, .changesZone:
            return try await longAnswer(body, context).bytes
        case .recordsResolve:
            return try await ShareJoining(resources: resources).resolveShortGUIDs(body, context)
        case .recordsAccept:
            return try await ShareJoining(resources: resources).acceptShortGUIDs(body, context)
        case .recordsRequestAccess: return try await shareRequests.requestAccess(body, context)
        case .recordsHistory:
            return try await RecordHistory(resources: resources).formerRecords(body, context)
        case .recordsDecline: return try await shareRequests.declineShortGUIDs(body, context)
        case .zonesList: return try await zones.listZones(body, context)
        case .zonesLookup: return try await zones.lookupZones(body, context)
        case .zonesModify: return try await zones.modifyZones(body, context)
        case .zonesChanges: return try await changeFeeds.zonesChanges(body, context)
        case .changesDatabase: return try await changeFeeds.databaseChanges(body, context)
        case .subscriptionsList: return try await subscriptions.listSubscriptions(body, context)
        case .subscriptionsLookup: return try await subscriptions.lookupSubscriptions(body, context)
        case .subscriptionsModify: return try await subscriptions.modifySubscriptions(body, context)
        case .usersCaller, .usersCurrent: return try await users.currentUser(body, context)
        case .usersDiscover: return try await users.discoverUsers(body, context)
        case .usersLookupEmail, .usersLookupID, .usersLookupContacts:
            return try await users.lookupUsers(body, context)
        case .assetsUpload: return try await assetOperations.uploadTokens(body, context)
        case .assetsRereference: return try await assetOperations.rereferenceAssets(body, context)
        case .tokensCreate:
            return try await PushTokens(resources: resources).createPushToken(body, context)
        case .tokensRegister:
            return try await PushTokens(resources: resources).registerPushToken(body, context)
        case .schemaExport: return try await schemas.exportSchema(body, context)
        case .schemaValidate: return try await schemas.validateSchema(body, context)
        case .schemaImport: return try await schemas.importSchema(body, context)
        case .schemaDeploy: return try await schemas.deploySchema(body, context)
        case .schemaReset: return try await schemas.resetSchema(body, context)
        }
    }

    private var changeFeeds: ChangeFeeds { ChangeFeeds(resources: resources) }
    private var zones: ZoneOperations { ZoneOperations(resources: resources) }
    private var subscriptions: SubscriptionOperations {
        SubscriptionOperations(resources: resources)
    }
    private var users: UserDirectory { UserDirectory(resources: resources) }
    private var assetOperations: AssetOperations { AssetOperations(resources: resources) }
    private var schemas: SchemaOperations { SchemaOperations(resources: resources) }
}
