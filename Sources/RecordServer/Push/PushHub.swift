import Synchronization

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

/// Tells subscribers of committed changes and wakes their long polls.
package final class PushHub: Sendable {
    private let storage: any Storage
    package let settings: PushSettings

    package init(storage: any Storage, settings: PushSettings = PushSettings()) {
        self.storage = storage
        self.settings = settings
    }

    /// Called after the commit. Returns at once: a notification is a hint and may be lost.
    package func publish(_ notice: ChangeNotice) {}

    /// Ends all polls with an empty answer, and every later one at once.
    package func shutdown() {}
}
