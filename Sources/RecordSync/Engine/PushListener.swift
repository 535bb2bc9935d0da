import RecordModel
import RecordStore
import RecordWire

/// Hears from the server that something is new, by the long poll of a courier: what others save is
/// fetched then, and not when the next look is due.
struct PushListener: Sendable {
    private let exchange: Exchange
    private var transport: any SyncTransport { exchange.transport }
    private var scope: DatabaseScope { exchange.scope }

    init(_ exchange: Exchange) { self.exchange = exchange }

    private static let subscription: Text = "recordfs-database"

    /// A server holds a poll for most of a minute: one that is answered sooner with nothing is none.
    private static let shortestPoll = Duration.seconds(1)
    private static let brokenPolls = 5

    /// Ends with the task, or with the problem that ends the courier.
    func listen(_ told: @Sendable () async -> Void) async throws(SyncProblem) {
        var zones: Set<ZoneID> = []
        try await subscribe(&zones)
        let courier = try await courier()
        // What came between the last look and the courier is not told.
        await told()
        var broken = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do throws(SyncProblem) {
                try await subscribe(&zones)
                let frame = try await transport.poll(courier.url.string)
                if !frame.isEmpty { await told() }
                let isPoll = !frame.isEmpty || ContinuousClock.now - start > Self.shortestPoll
                broken = isPoll ? 0 : broken + 1
            } catch  where !Task.isCancelled && error.isUnanswered && broken < Self.brokenPolls {
                // The courier is good as long as the server does not say otherwise.
                broken += 1
            }
            guard broken > 0 else { continue }
            guard broken < Self.brokenPolls else {
                throw .unreadable("a courier that answers at once with nothing.")
            }
            do {
                try await Task.sleep(for: Self.shortestPoll * broken)
            } catch {
                return
            }
        }
    }

    /// To the database at first; where there is no such subscription, to each zone that is new.
    private func subscribe(_ zones: inout Set<ZoneID>) async throws(SyncProblem) {
        guard !exchange.settings.hasExtensions else {
            // No zone has this number.
            guard zones.insert(ZoneID(0)).inserted else { return }
            return try await subscribe([
                WireSubscription(subscriptionID: Self.subscription, kind: .database)
            ])
        }
        let (store, database) = (exchange.store, exchange.database)
        let all = try exchange.read { (_) throws(RecordError) in
            try store.zonesOfServer(in: database)
        }
        let new = all.filter { !zones.contains($0.id) }
        for start in stride(from: 0, to: new.count, by: Self.operationsOfRequest) {
            let part = new[start..<min(start + Self.operationsOfRequest, new.count)]
            try await subscribe(part.map(Self.subscription(to:)))
            zones.formUnion(part.map(\.id))
        }
    }

    private static let operationsOfRequest = 200

    private static func subscription(to zone: SyncedZone) -> WireSubscription {
        let name = SHA256.hash(zone.owner.bytes + [0] + zone.name.bytes).hex.prefix(32)
        var subscription = WireSubscription(subscriptionID: Text("recordfs-\(name)"), kind: .zone)
        subscription.zone = ZoneIdentifier(zone)
        return subscription
    }

    private func subscribe(_ subscriptions: [WireSubscription]) async throws(SyncProblem) {
        let operations = subscriptions.map { SubscriptionOperation.create($0) }
        let answer = try await transport.send(
            .subscriptionsModify, scope, SubscriptionOperation.body(operations)
        ) { json throws(ServerError) in try json.required("subscriptions").array() }
        for item in answer {
            let error: WireError?
            do throws(ServerError) {
                error = try WireError(item)
            } catch {
                throw SyncProblem.unreadable("subscriptions/modify: \(error.reason)")
            }
            if let error, !Self.isHarmless(error) { throw .refused(error) }
        }
    }

    /// It is there from the last time, which Apple's service says in its own words
    /// (https://github.com/brightdigit/MistKit/issues/387); or its zone is gone meanwhile.
    private static func isHarmless(_ error: WireError) -> Bool {
        switch Reaction(error) {
        case .merge, .findZone: true
        default: error.reason.string.contains("could not find subscription")
        }
    }

    private func courier() async throws(SyncProblem) -> CourierAnswer {
        var request = PushTokenBody(apnsEnvironment: exchange.settings.environment)
        guard !exchange.settings.hasExtensions else { return try await courier(request) }
        let name = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }
        request.clientID = Text(name.joined(separator: "-"))
        let courier = try await courier(request)
        request.apnsToken = courier.token
        _ = try await transport.send(.tokensRegister, scope, request.bytes)
        return courier
    }

    private func courier(_ request: PushTokenBody) async throws(SyncProblem) -> CourierAnswer {
        try await transport.send(.tokensCreate, scope, request.bytes) {
            json throws(ServerError) in try CourierAnswer(json)
        }
    }
}
