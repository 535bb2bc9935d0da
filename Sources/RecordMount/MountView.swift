package import RecordModel
import Synchronization

/// The information about a mount for other parts of this process, as long as the mount is served.
package final class MountView: Sendable {
    struct Source: Sendable {
        let unsavedPaths: @Sendable () -> [String]
        let waitUntilHeard: @Sendable () -> Void
        let outlastGrace: @Sendable () throws(RecordError) -> Void
    }

    private let source = Mutex<Source?>(nil)

    package init() {}

    /// Returns the paths of the records that could not be saved, after one more attempt. Returns
    /// none before the mount and after its end.
    package func unsavedPaths() -> [String] {
        guard let source = source.withLock({ $0 }) else { return [] }
        return source.unsavedPaths()
    }

    /// Returns when the kernel was notified of everything that was committed before: a program that
    /// opens a file then sees it. Not to be called from a thread that answers a call of the kernel,
    /// because the kernel may need that thread.
    package func waitUntilHeard() { source.withLock { $0 }?.waitUntilHeard() }

    /// Returns when records that were removed before are deleted for good (`Tree.outlastGrace`).
    package func outlastGrace() throws(RecordError) {
        try source.withLock { $0 }?.outlastGrace()
    }

    func follow(_ source: Source?) { self.source.withLock { $0 = source } }
}
