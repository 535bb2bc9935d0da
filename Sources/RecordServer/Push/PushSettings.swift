/// What an operator can set of notifications.
package struct PushSettings: Sendable, Hashable {
    /// How long a poll without a notification is held.
    package var holdTime: Duration = .seconds(50)
    /// How often the storage is asked for notifications that another process has queued.
    package var checkInterval: Duration = .seconds(3)
    /// Of one device; beyond it the oldest go.
    package var maximumFrames = 200
    /// A device that has not polled for so long is forgotten.
    package var deviceSeconds = 30 * 24 * 3600
    package var devicesPerUser = 20
    package var subscriptionsPerUser = 500

    package init() {}
}

/// What notifications have cost so far.
package struct PushStatistics: Sendable, Hashable {
    package var notices = 0
    /// Put into the queues of devices.
    package var frames = 0
    /// Times that the storage failed while frames were made; their notices are lost.
    package var failures = 0
    package var waitingPolls = 0
    package var waitingNotices = 0
    package init() {}
}
