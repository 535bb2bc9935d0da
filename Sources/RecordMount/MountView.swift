package import RecordModel
import Synchronization

/// What others of this process can ask of a mount, as long as it is served.
package final class MountView: Sendable {
    struct Source: Sendable {
        let unsavedPaths: @Sendable () -> [String]
        let waitUntilHeard: @Sendable () -> Void
        let outlastGrace: @Sendable () throws(RecordError) -> Void
    }

    private let source = Mutex<Source?>(nil)

    package init() {}

    /// The paths of the records that could not be saved, after one more try. None before the mount
    /// and after its end.
    package func unsavedPaths() -> [String] {
        guard let source = source.withLock({ $0 }) else { return [] }
        return source.unsavedPaths()
    }

    /// Returns when the kernel has heard of all that was committed before: who opens a file then
    /// meets it. Not for a thread that answers a call of the kernel, which may need that very thread.
    package func waitUntilHeard() { source.withLock { $0 }?.waitUntilHeard() }

    /// Returns when what was removed before is deleted for good (`Tree.outlastGrace`).
    package func outlastGrace() throws(RecordError) {
        try source.withLock { $0 }?.outlastGrace()
    }

    func follow(_ source: Source?) { self.source.withLock { $0 = source } }
}
