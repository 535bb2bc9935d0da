import Dispatch
import Glibc
import RecordWire
import Synchronization

/// Threads for calls that wait for a disk: the cooperative pool has as many threads as the
/// machine has processors, and must not wait.
enum FileThreads {
    private static let queues = (0..<4).map { DispatchQueue(label: "recordfs.assets.\($0)") }
    private static let turn = Atomic<Int>(0)

    static func run<Result: Sendable>(
        _ body: @escaping @Sendable () throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        let index = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        let queue = queues[Int(index.magnitude % UInt(queues.count))]
        let result: Swift.Result<Result, ServerError> = await withCheckedContinuation {
            continuation in
            queue.async {
                do throws(ServerError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}

/// The system calls that tests let fail, and what a failed call means for a client.
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
