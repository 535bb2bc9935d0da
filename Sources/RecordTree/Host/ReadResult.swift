import Glibc
package import RecordModel

/// The answer to a read.
package enum ReadResult: Sendable {
    case bytes([UInt8])
    /// A range of a real file; the descriptor stays open while the value lives.
    case file(HostFile, offset: Int64, count: Int)
    /// The bytes are not on this machine yet: the closure starts the wait.
    case deferred(DeferredCall)
}

/// Starts a wait, and returns it so that it can be ended.
package typealias DeferredCall = @Sendable (@escaping DeferredAnswer) -> Waiting

/// Called once with the bytes or with the error; never after the wait was ended.
package typealias DeferredAnswer = @Sendable (Result<ReadResult, RecordError>) -> Void

/// A call that waits for bytes.
package struct Waiting: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    /// Ends the wait, because its caller has gone: nothing waits any more, and no answer follows.
    /// Does nothing after an answer.
    package func giveUp() { end() }
}
