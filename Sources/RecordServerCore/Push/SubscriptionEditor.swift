import RecordModel
import RecordWire

/// Changes the subscriptions of one user in one database, inside a transaction
/// (CloudKit Web Services Reference, Modifying Subscriptions).
struct SubscriptionEditor {
    let key: SubscriptionKey
    let context: OperationContext
    /// The most subscriptions of one user in one database.
    let maximum: Int
    let transaction: any StorageTransaction

    /// Returns the result of one operation. An operation that fails changes nothing.
    ///
    /// - Throws: errors of the server, and not those of the operation.
    func perform(_ operation: SubscriptionOperation, mintedID: Text) throws(ServerError)
        -> SubscriptionAnswer
    {
        var id: Text
        switch operation {
        case .create(let subscription), .update(let subscription):
            id = subscription.subscriptionID
        case .delete(let subscriptionID): id = subscriptionID
        }
        if id.isEmpty { id = mintedID }
        do throws(ServerError) {
            switch operation {
            case .create(let subscription): return try create(subscription, id)
            case .update(let subscription): return try update(subscription)
            case .delete: return try delete(id)
            }
        } catch {
            guard error.code != .internalError, error.code != .tryAgainLater else { throw error }
            return .failed(id, error)
        }
    }

    private func create(_ subscription: WireSubscription, _ id: Text) throws(ServerError)
        -> SubscriptionAnswer
    {
        var subscription = try checked(subscription)
        subscription.subscriptionID = id
        let rows = try transaction.subscriptions(key)
        guard !rows.contains(where: { $0.subscriptionID == id }) else {
            throw ServerError(.exists, "This user has a subscription with this identifier.")
        }
        guard rows.count < maximum else {
            throw ServerError(
                .limitExceeded, "A user has at most \(maximum) subscriptions in one database.")
        }
        try requireUnique(subscription, among: rows)
        return try put(subscription)
    }

    private func update(_ subscription: WireSubscription) throws(ServerError)
        -> SubscriptionAnswer
    {
        let subscription = try checked(subscription)
        let rows = try transaction.subscriptions(key)
        guard rows.contains(where: { $0.subscriptionID == subscription.subscriptionID }) else {
            return .notFound(subscription.subscriptionID)
        }
        try requireUnique(
            subscription,
            among: rows.filter { $0.subscriptionID != subscription.subscriptionID })
        return try put(subscription)
    }

    private func delete(_ id: Text) throws(ServerError) -> SubscriptionAnswer {
        guard try transaction.subscription(key, id) != nil else { return .notFound(id) }
        try transaction.deleteSubscription(key, id)
        return .deleted(id)
    }

    private func put(_ subscription: WireSubscription) throws(ServerError) -> SubscriptionAnswer {
        let row = SubscriptionRow(subscription, key: key)
        try transaction.putSubscription(row)
        return .dictionary(row.dictionary)
    }

    private func requireUnique(
        _ subscription: WireSubscription, among rows: [SubscriptionRow]
    ) throws(ServerError) {
        for row in rows where try row.subscription().tellsTheSame(as: subscription) {
            throw ServerError(
                .exists,
                "The subscription \(row.subscriptionID) of this user reports the same changes.")
        }
    }

    /// Returns the subscription with the zone's full name, without the members that its type does
    /// not have.
    private func checked(_ given: WireSubscription) throws(ServerError) -> WireSubscription {
        var subscription = given
        if subscription.kind != .query {
            guard context.scope != .public else {
                throw ServerError(
                    .badRequest, "The public database has subscriptions of type query only.")
            }
            subscription.query = nil
            subscription.firesOn = []
            subscription.firesOnce = false
            subscription.zoneWide = true
        }
        switch subscription.kind {
        case .database: subscription.zone = nil
        // Without a zone, the subscription covers the whole database. Its frames name the zone that
        // changed.
        case .zone: subscription.zone = try subscription.zone.map(fullName)
        case .query:
            guard let query = subscription.query else {
                throw ServerError(.badRequest, "A subscription of type query needs query.")
            }
            subscription.zone = try subscription.zone.map(fullName)
            _ = try QueryEvaluator(
                query: query, schema: try ContainerSchema.current(key.container, transaction))
        }
        return subscription
    }

    private func fullName(_ zone: ZoneIdentifier) throws(ServerError) -> ZoneIdentifier {
        try ZoneAccess.open(zone, context, transaction).zone.key.identifier
    }
}
