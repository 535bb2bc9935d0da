import RecordModel
import RecordWire

/// The frames that one subscription delivers to the devices of its user.
struct PushDelivery: Sendable, Hashable {
    let key: SubscriptionKey
    let subscriptionID: Text
    /// Indicates whether only the first frame is delivered, and the subscription is removed after
    /// it.
    let firesOnce: Bool
    let frames: [[UInt8]]
    /// The devices, by their courier hashes.
    let devices: [Text]
}

/// Finds the notifications for committed changes of one zone.
///
/// Every device of a user is notified, also the one that wrote, because a request does not name its
/// device. The exception is a device that knows the effects of its request (`KnownFeeds`).
struct PushMatcher {
    let zone: ZoneKey
    /// The changes in the order of their commits, each with the identifier of its notification.
    let changes: [(change: ChangeNotice.Change, notificationID: Text)]
    /// The users who have the zone in the shared database before or after the changes.
    let viewers: [UserName]
    /// The users who are notified that there is something new in the shared database, but not
    /// where.
    let invitees: [UserName]
    /// The `clientId` of a device that already knows all of the changes.
    let origin: Text?
    /// The identifier for subscriptions to the zone or the database.
    let notificationID: Text
    let reader: any StorageReader

    private var container: ContainerKey { zone.database.container }

    func deliveries() throws(ServerError) -> [PushDelivery] {
        var deliveries: [PushDelivery] = []
        // Queries need it. It is read once, for the first user who has one.
        var schema: ContainerSchema?
        for (key, rows) in try subscribers() {
            let devices = try reader.pushDevices(container, key.user)
                .filter { origin == nil || $0.clientID != origin }.map(\.courierHash)
            guard !devices.isEmpty, let user = try reader.user(key.user), !user.isDisabled else {
                continue
            }
            let subscriptions = try rows.map { (row) throws(ServerError) in
                try row.subscription()
            }
            if schema == nil, subscriptions.contains(where: { $0.kind == .query }) {
                schema = try ContainerSchema.current(container, reader)
            }
            let sight = try sight(user, key.scope, schema)
            for (row, subscription) in zip(rows, subscriptions) {
                let frames = try frames(subscription, key, sight, schema)
                guard !frames.isEmpty else { continue }
                deliveries.append(
                    PushDelivery(
                        key: key, subscriptionID: row.subscriptionID,
                        firesOnce: subscription.firesOnce, frames: frames, devices: devices))
            }
        }
        return deliveries
    }

    /// Returns the users whose subscriptions may be about this zone, with these subscriptions.
    private func subscribers() throws(ServerError) -> [(SubscriptionKey, [SubscriptionRow])] {
        guard !zone.database.isPublic else {
            let rows = try reader.publicSubscriptions(container)
            return Dictionary(grouping: rows, by: \.key).map { ($0.key, $0.value) }
        }
        let owner = SubscriptionKey(
            container: container, user: zone.database.owner, scope: .private)
        let others = viewers + invitees.filter { !viewers.contains($0) }
        let keys =
            [owner]
            + others.map { SubscriptionKey(container: container, user: $0, scope: .shared) }
        var subscribers: [(SubscriptionKey, [SubscriptionRow])] = []
        for key in keys {
            let rows = try reader.subscriptions(key)
            if !rows.isEmpty { subscribers.append((key, rows)) }
        }
        return subscribers
    }

    /// Returns the records that a user may see in the zone.
    ///
    /// - Parameter schema: nil for a user without queries, who hears of no single record.
    private func sight(
        _ user: UserRow, _ scope: DatabaseScope, _ schema: ContainerSchema?
    ) throws(ServerError) -> Sight {
        switch scope {
        case .public:
            guard let schema else { return Sight(shares: nil, grants: .none) }
            let roles = try ContainerSchema.roles(of: .user(user), in: container, reader)
            return Sight(
                shares: nil, grants: Grants(schema: schema, roles: roles, user: user.name))
        case .private: return Sight(shares: nil, grants: .none)
        case .shared:
            // A user who was in the zone is notified that it changed, and of records only while
            // they are in it.
            let shares = try reader.sharedZone(user.name, zone)?.shares ?? []
            return Sight(shares: shares.contains(.zoneShare) ? nil : shares, grants: .none)
        }
    }

    private func frames(
        _ subscription: WireSubscription, _ key: SubscriptionKey, _ sight: Sight,
        _ schema: ContainerSchema?
    ) throws(ServerError) -> [[UInt8]] {
        let scene = PushFrame.Scene(zone: zone, user: key.user, scope: key.scope)
        let frame = PushFrame(
            scene: scene, subscription: subscription, notificationID: notificationID)
        switch subscription.kind {
        case .database:
            let namesZone = subscription.subscriptionID == WireSubscription.namingZones
            return [frame.database(namesZone: namesZone && !changes.isEmpty)]
        case _ where key.scope == .shared && !viewers.contains(key.user): return []
        case .zone: return covers(subscription) ? [frame.zone()] : []
        case .query:
            guard covers(subscription), let query = subscription.query, let schema else {
                return []
            }
            return try frames(query, subscription, scene, sight, schema)
        }
    }

    private func covers(_ subscription: WireSubscription) -> Bool {
        guard let wanted = subscription.zone else {
            return subscription.zoneWide || zone.isDefaultZone
        }
        return wanted.zone == zone.zone
            && (zone.database.isPublic || wanted.owner == zone.database.owner)
    }

    private func frames(
        _ query: WireQuery, _ subscription: WireSubscription, _ scene: PushFrame.Scene,
        _ sight: Sight, _ schema: ContainerSchema
    ) throws(ServerError) -> [[UInt8]] {
        let candidates = changes.filter { entry in
            entry.change.record.type == query.recordType
                && subscription.firesOn.contains(entry.change.event.wire)
                && sight.includes(entry.change.record.share)
        }
        guard !candidates.isEmpty else { return [] }
        guard let evaluator = Self.evaluator(query, schema) else { return [] }
        var frames: [[UInt8]] = []
        for (change, notificationID) in candidates {
            let record = change.record
            guard sight.shows(RecordFacts(record)),
                evaluator.matches(
                    try shown(record, sight), fields: try FieldsCodec.decode(record.fields),
                    zone: zone)
            else { continue }
            frames.append(
                PushFrame(
                    scene: scene, subscription: subscription, notificationID: notificationID
                ).record(record.name, change.event))
        }
        return frames
    }

    /// Returns the evaluator of a query. Returns nil when the schema no longer has the names in the
    /// query, which then matches nothing.
    private static func evaluator(_ query: WireQuery, _ schema: ContainerSchema) -> QueryEvaluator?
    {
        do throws(ServerError) {
            return try QueryEvaluator(query: query, schema: schema)
        } catch {
            return nil
        }
    }

    /// Returns the record, without its parent when the parent is outside of the user's view.
    private func shown(
        _ record: StoredRecord, _ sight: Sight
    ) throws(ServerError) -> StoredRecord {
        guard sight.shares != nil, record.parent != nil, let share = record.share,
            try reader.share(zone, share)?.root == record.name
        else { return record }
        var shown = record
        shown.parent = nil
        return shown
    }
}
