import Dispatch
import Glibc
package import RecordWire
import Synchronization

/// Threads for calls that wait for a disk. The cooperative pool has only as many threads as the
/// machine has processors, and must not wait.
package enum FileThreads {
    private static let queues = (0..<4).map { DispatchQueue(label: "recordfs.assets.\($0)") }
    private static let turn = Atomic<Int>(0)

    package static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        let queue = queues[Int(index.magnitude % UInt(queues.count))]
        let job = Job(body)
        return try await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: job.run()) }
        }.get()
    }

    /// A job that runs once. It releases everything it holds before its caller continues: a file
    /// that vanishes with its last holder has vanished by then.
    private final class Job<Result: Sendable>: Sendable {
        private let body: Mutex<(@Sendable () throws(ServerError) -> Result)?>

        init(_ body: @escaping @Sendable () throws(ServerError) -> Result) {
            self.body = Mutex(body)
        }

        func run() -> Swift.Result<Result, ServerError> {
            guard let body = body.withLock({ $0.take() }) else {
                return .failure(ServerError(.internalError, "A job was to be done twice."))
            }
            return Swift.Result { () throws(ServerError) in try body() }
        }
    }
}

/// The system calls that tests can make fail, and the errors for clients when a call fails.
struct FileCalls: Sendable {
    var write: @Sendable (Int32, UnsafeRawBufferPointer) -> Int

    static let system = FileCalls { descriptor, bytes in
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    static func failure(_ action: String, _ code: Int32) -> ServerError {
        switch code {
        case ENOSPC, EDQUOT:
            ServerError(
                .tryAgainLater, "The server has no space left for assets.", retryAfter: 60)
        case EMFILE, ENFILE:
            ServerError(
                .tryAgainLater, "The server has too many open files.", retryAfter: 5)
        default:
            ServerError(.internalError, "The server could not \(action): \(text(code)).")
        }
    }
}
