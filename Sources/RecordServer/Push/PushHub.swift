import Synchronization

/// Tells subscribers of committed changes and wakes their long polls.
package final class PushHub: Sendable {
    private let storage: any Storage

    package init(storage: any Storage) { self.storage = storage }

    /// Called after the commit. Returns at once: a notification is a hint and may be lost.
    package func publish(_ notice: ChangeNotice) {}
}
