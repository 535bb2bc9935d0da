import RecordModel
import RecordWire
import Synchronization

/// Notifies subscribers of committed changes and wakes their long polls.
///
/// Notices wait in a bounded queue for one task. The task finds the subscriptions, puts frames into
/// the queues of their devices, in the storage, and signals that to the polls of all processes.
/// Polls that miss the signal find the frames by looking. A waiting poll holds no thread and asks
/// the storage for nothing, because one task looks for all of them.
package final class PushHub: Sendable {
    struct State: Sendable {
        var queue = ChangeNoticeQueue()
        var isDelivering = false
        /// The newest poll of each device, by courier hash.
        var polls: [Text: PollWaiter] = [:]
        var isLooking = false
        var isShutDown = false
        var statistics = PushStatistics()
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    let storage: any Storage
    package let settings: PushSettings
    let signals: any CourierSignals
    /// The number of this hub among the hubs of all processes.
    let number = UInt64.random(in: .min ... .max)
    let state = Mutex(State())

    package init(
        storage: any Storage, settings: PushSettings = PushSettings(),
        signals: any CourierSignals = LocalCourierSignals()
    ) {
        self.storage = storage
        self.settings = settings
        self.signals = signals
        signals.listen { [weak self] in self?.receive($0) }
    }

    package var statistics: PushStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.waitingPolls = state.polls.count
            statistics.waitingNotices = state.queue.count
            return statistics
        }
    }

    /// Publishes a notice after the commit. It returns at once: a notification is a hint and may be
    /// lost.
    package func publish(_ notice: ChangeNotice) {
        let mustStart = state.withLock { state in
            state.statistics.notices += 1
            state.queue.append(notice)
            guard !state.isDelivering else { return false }
            state.isDelivering = true
            return true
        }
        if mustStart { Task { await self.deliver() } }
    }

    /// Returns when everything that was published so far is in the queues of the devices.
    package func waitUntilDelivered() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isDelivering { state.idle.append(continuation) }
                return !state.isDelivering
            }
            if isIdle { continuation.resume() }
        }
    }

    private func deliver() async {
        while let notices = takeNotices() {
            do throws(ServerError) {
                try await deliver(notices)
            } catch {
                state.withLock { $0.statistics.failures += 1 }
            }
        }
    }

    /// Takes the next notices. Returns nil when there are none, and then nobody delivers any more.
    private func takeNotices() -> [ChangeNotice]? {
        let (notices, idle) = state.withLock { state in
            let notices = state.queue.take(64)
            guard notices.isEmpty else { return (notices, [CheckedContinuation<Void, Never>]()) }
            state.isDelivering = false
            defer { state.idle = [] }
            return (notices, state.idle)
        }
        for continuation in idle { continuation.resume() }
        return notices.isEmpty ? nil : notices
    }

    private func deliver(_ notices: [ChangeNotice]) async throws(ServerError) {
        let groups = NoticeGroup.groups(of: notices)
        let deliveries = try await storage.read { reader throws(ServerError) in
            var deliveries: [PushDelivery] = []
            for group in groups { deliveries += try group.matcher(reader).deliveries() }
            return deliveries
        }
        // Enqueue in parts, so that nobody waits long for the storage's writer.
        var start = 0
        while start < deliveries.count {
            let part = Array(deliveries[start..<min(start + 100, deliveries.count)])
            start += part.count
            try await enqueue(part)
        }
    }

    private func enqueue(_ deliveries: [PushDelivery]) async throws(ServerError) {
        let limit = settings.maximumFrames
        // After a power failure a subscription that fires once may fire again, as a frame may be lost.
        let (devices, count) = try await storage.writeHint { transaction throws(ServerError) in
            var devices: Set<Text> = []
            var count = 0
            for delivery in deliveries {
                var frames = delivery.frames.suffix(limit)
                if delivery.firesOnce {
                    guard
                        try transaction.subscription(delivery.key, delivery.subscriptionID) != nil
                    else { continue }
                    try transaction.deleteSubscription(delivery.key, delivery.subscriptionID)
                    frames = delivery.frames.prefix(1)
                }
                for device in delivery.devices {
                    for frame in frames {
                        try transaction.enqueueFrame(courierHash: device, frame, limit: limit)
                        count += 1
                    }
                    devices.insert(device)
                }
            }
            return (devices, count)
        }
        state.withLock { $0.statistics.frames += count }
        if !devices.isEmpty { signals.send(.frames(Array(devices))) }
    }
}
