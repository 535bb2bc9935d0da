import RecordModel
import RecordWire

/// Hears from the server that something is new, by the long poll of a courier: what others save is
/// fetched then, and not when the next look is due.
struct PushListener: Sendable {
    let transport: any SyncTransport
    let scope: DatabaseScope
    private static let subscription: Text = "recordfs-database"

    /// A server holds a poll for most of a minute: one that is answered sooner with nothing is none.
    private static let shortestPoll = Duration.seconds(1)
    private static let brokenPolls = 5

    /// Ends with the task, or with the problem that ends the courier.
    func listen(_ told: @Sendable () async -> Void) async throws(SyncProblem) {
        try await subscribe()
        let courier = try await courier()
        // What came between the last look and the courier is not told.
        await told()
        var broken = 0
        while !Task.isCancelled {
            let start = ContinuousClock.now
            do throws(SyncProblem) {
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

    private func subscribe() async throws(SyncProblem) {
        let subscription = WireSubscription(subscriptionID: Self.subscription, kind: .database)
        let answer = try await transport.send(
            .subscriptionsModify, scope, SubscriptionOperation.body([.create(subscription)])
        ) { json throws(ServerError) in try json.required("subscriptions").array() }
        for item in answer {
            let error: WireError?
            do throws(ServerError) {
                error = try WireError(item)
            } catch {
                throw SyncProblem.unreadable("subscriptions/modify: \(error.reason)")
            }
            // It is there from the last time.
            if let error, Reaction(error) != .merge { throw .refused(error) }
        }
    }

    private func courier() async throws(SyncProblem) -> CourierAnswer {
        try await transport.send(
            .tokensCreate, scope, PushTokenBody(apnsEnvironment: .development).bytes
        ) { json throws(ServerError) in try CourierAnswer(json) }
    }
}
