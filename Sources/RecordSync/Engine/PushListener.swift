import Logging
package import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

/// Learns from the server that something is new, by the long poll of a courier. Changes of others
/// are then downloaded at once, and not only when the next look is due. One courier serves all
/// databases of an account.
package struct PushListener: Sendable {
    /// The exchanges of one account, without the public database: no database notification reports
    /// its changes.
    private let exchanges: [Exchange]
    private var transport: any SyncTransport { exchanges[0].transport }
    private var settings: Exchange.Settings { exchanges[0].settings }

    init(_ exchanges: [Exchange]) {
        self.exchanges = exchanges.filter { $0.database != .public }
    }

    /// Notifies the engines as long as its task runs. Without it, news arrive with the next look.
    package static func run(
        for engines: [SyncEngine], clock: any WallClock = SystemClock(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) async {
        let listener = PushListener(engines.map(\.exchange))
        guard !listener.exchanges.isEmpty else { return }
        let backoff = Backoff(first: .seconds(1), longest: .seconds(8))
        var failures = 0
        while !Task.isCancelled {
            let start = clock.uptime
            do throws(SyncProblem) {
                try await listener.listen {
                    for engine in engines { await engine.noteCourier(isThere: true) }
                } _: { notice in
                    for engine in engines
                    where notice?.scope == nil || notice?.scope == engine.exchange.scope {
                        await engine.told(of: notice?.zone)
                    }
                }
            } catch {
                listener.exchanges[0].logger.debug("Push", metadata: ["why": "\(error)"])
            }
            for engine in engines { await engine.noteCourier(isThere: false) }
            // A courier that has worked for long starts a new row of failures.
            failures = clock.uptime - start > .seconds(60) ? 1 : min(failures + 1, 16)
            do {
                try await Task.sleep(for: backoff.wait(failures: failures, jitter: jitter()))
            } catch {
                return
            }
        }
    }

    /// The subscription of earlier versions. Its frames do not say in which zone something is new.
    private static let formerSubscription: Text = "recordfs-database"

    /// A server holds a poll for most of a minute. An empty answer sooner than this means that the
    /// courier does not hold the poll.
    private static let shortestPoll = Duration.seconds(1)
    private static let brokenPolls = 5

    /// Ends with the task, or with the problem that ends the courier.
    ///
    /// - Parameters:
    ///   - isThere: is called when the courier works.
    ///   - told: is called with the place of the news, or with nil when the server does not say it.
    func listen(
        isThere: @Sendable () async -> Void = {}, _ told: @Sendable (PushNotice?) async -> Void
    ) async throws(SyncProblem) {
        var zones: Set<ZoneID> = []
        if settings.hasExtensions { try await subscribeToDatabases() }
        try await subscribeToNewZones(but: &zones)
        let courier = try await courier()
        defer { for exchange in exchanges { exchange.courierName.current = nil } }
        // The courier does not report changes between the last look and its own start.
        await told(nil)
        if settings.hasExtensions { await isThere() }
        var broken = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do throws(SyncProblem) {
                try await subscribeToNewZones(but: &zones)
                let frame = try await transport.poll(courier.url.string)
                if !frame.isEmpty { await told(Self.notice(frame)) }
                let isPoll = !frame.isEmpty || ContinuousClock.now - start > Self.shortestPoll
                broken = isPoll ? 0 : broken + 1
            } catch  where !Task.isCancelled && error.isUnanswered && broken < Self.brokenPolls {
                // The courier is valid until the server says otherwise. The engines find out
                // whether the server can be reached, and they ask for the news that the courier
                // missed.
                broken += 1
                if broken == 1 { await told(nil) }
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

    /// Returns the notice in a frame. A frame is only a hint: an unreadable one says that something
    /// is new.
    private static func notice(_ frame: [UInt8]) -> PushNotice? {
        do {
            return try PushNotice(JSONReader(try JSONParser.parse(frame)))
        } catch {
            return nil
        }
    }

    private func subscribeToDatabases() async throws(SyncProblem) {
        for exchange in exchanges {
            try await subscribe(
                [
                    .create(
                        WireSubscription(
                            subscriptionID: WireSubscription.namingZones, kind: .database)),
                    .delete(subscriptionID: Self.formerSubscription),
                ], in: exchange.scope)
        }
    }

    /// Subscribes to each new zone, at a server that does not know subscriptions to a database.
    private func subscribeToNewZones(but zones: inout Set<ZoneID>) async throws(SyncProblem) {
        guard !settings.hasExtensions else { return }
        for exchange in exchanges {
            let all = try exchange.read { (store) throws(RecordError) in
                try store.syncState.zonesOfServer(in: exchange.database)
            }
            let new = all.filter { !zones.contains($0.id) }
            for start in stride(from: 0, to: new.count, by: Self.operationsOfRequest) {
                let part = new[start..<min(start + Self.operationsOfRequest, new.count)]
                try await subscribe(
                    part.map { .create(Self.subscription(to: $0)) }, in: exchange.scope)
                zones.formUnion(part.map(\.id))
            }
        }
    }

    private static let operationsOfRequest = 200

    private static func subscription(to zone: SyncedZone) -> WireSubscription {
        let name = SHA256.hash(zone.owner.bytes + [0] + zone.name.bytes).hex.prefix(32)
        var subscription = WireSubscription(subscriptionID: Text("recordfs-\(name)"), kind: .zone)
        subscription.zone = ZoneIdentifier(zone)
        return subscription
    }

    private func subscribe(
        _ operations: [SubscriptionOperation], in scope: DatabaseScope
    ) async throws(SyncProblem) {
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

    /// Returns whether an error of a subscription does no harm. The subscription exists from the
    /// last time, which Apple's service says in its own words
    /// (https://github.com/brightdigit/MistKit/issues/387); or its zone is gone in the meantime.
    private static func isHarmless(_ error: WireError) -> Bool {
        switch Reaction(error) {
        // The subscription already exists, never existed, or its zone is gone.
        case .merge, .remake, .findZone: true
        default: error.reason.string.contains("could not find subscription")
        }
    }

    private func courier() async throws(SyncProblem) -> CourierAnswer {
        var request = PushTokenBody(apnsEnvironment: settings.environment)
        guard !settings.hasExtensions else {
            let name = Text(String(UInt64.random(in: 0...UInt64.max), radix: 36))
            request.clientID = name
            let courier = try await courier(request)
            for exchange in exchanges { exchange.courierName.current = name }
            return courier
        }
        let name = (0..<2).map { _ in String(UInt64.random(in: 0...UInt64.max), radix: 16) }
        request.clientID = Text(name.joined(separator: "-"))
        let courier = try await courier(request)
        request.apnsToken = courier.token
        _ = try await transport.send(.tokensRegister, exchanges[0].scope, request.bytes)
        return courier
    }

    private func courier(_ request: PushTokenBody) async throws(SyncProblem) -> CourierAnswer {
        try await transport.send(.tokensCreate, exchanges[0].scope, request.bytes) {
            json throws(ServerError) in try CourierAnswer(json)
        }
    }
}
