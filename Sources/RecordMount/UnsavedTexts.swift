import Synchronization

/// What a mount could not save, for those who ask while it is served.
package final class UnsavedTexts: Sendable {
    private let source = Mutex<(@Sendable () -> [String])?>(nil)

    package init() {}

    /// The paths of the records, after one more try to save them. None before the mount and after
    /// its end.
    package func paths() -> [String] {
        guard let ask = source.withLock({ $0 }) else { return [] }
        return ask()
    }

    func follow(_ source: (@Sendable () -> [String])?) { self.source.withLock { $0 = source } }
}
