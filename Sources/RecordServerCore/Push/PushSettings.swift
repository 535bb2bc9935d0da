/// The settings of notifications that an operator can change.
package struct PushSettings: Sendable, Hashable {
    /// The time for which a poll without a notification is held.
    package var holdTime: Duration = .seconds(50)
    /// The time between two questions to the storage for notifications that another process has
    /// queued.
    package var checkInterval: Duration = .seconds(3)
    /// The most frames of one device. Beyond that, the oldest are removed.
    package var maximumFrames = 200
    /// The time after which a device that has not polled is forgotten.
    package var deviceSeconds = 30 * 24 * 3600
    package var devicesPerUser = 20
    package var subscriptionsPerUser = 500

    package init() {}
}

/// The counters of notifications so far.
package struct PushStatistics: Sendable, Hashable {
    package var notices = 0
    /// The number of frames put into the queues of devices.
    package var frames = 0
    /// The number of times that the storage failed while frames were made. Their notices are lost.
    package var failures = 0
    package var waitingPolls = 0
    package var waitingNotices = 0
    package init() {}
}
