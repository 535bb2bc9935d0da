import Dispatch
import RecordModel
package import RecordWire
import Synchronization

/// Where passwords are hashed: on threads of their own, so that any number of sign-ins at once takes
/// the memory of as many hashes and leaves the threads of other requests alone.
package final class ScryptQueue: Sendable {
    /// One after the other: a hash takes 16 MiB, half of what all requests hold together.
    static let shared = ScryptQueue(width: 1, maximumWaiting: 50)

    private let queues: [DispatchQueue]
    private let maximumWaiting: Int
    private let load: Mutex<Load>

    private struct Load {
        /// How many hashes each queue has to make.
        var pending: [Int]
        /// How many of them may be refused when there are too many.
        var impatient = 0
    }

    package init(width: Int, maximumWaiting: Int) {
        queues = (0..<width).map { DispatchQueue(label: "scrypt.\($0)") }
        self.maximumWaiting = maximumWaiting
        load = Mutex(Load(pending: Array(repeating: 0, count: width)))
    }

    /// Errors: `tryAgainLater` when too many are waiting, unless `isPatient`: what an
    /// administrator asked for is done, however late.
    package func derive(
        _ password: [UInt8], salt: [UInt8], cost: Password.Cost, isPatient: Bool = false
    ) async throws(ServerError) -> [UInt8] {
        let place = load.withLock { load -> Int? in
            guard isPatient || load.impatient < maximumWaiting,
                let place = load.pending.indices.min(by: { load.pending[$0] < load.pending[$1] })
            else { return nil }
            load.pending[place] += 1
            if !isPatient { load.impatient += 1 }
            return place
        }
        guard let place else {
            throw ServerError(
                .tryAgainLater, "Too many people sign in at this moment.", retryAfter: 10)
        }
        let hash: [UInt8]? = await withCheckedContinuation { continuation in
            queues[place].async {
                continuation.resume(
                    returning: Scrypt.hash(
                        password, salt: salt, cost: cost, byteCount: StoredPassword.hashBytes))
            }
        }
        load.withLock { load in
            load.pending[place] -= 1
            if !isPatient { load.impatient -= 1 }
        }
        guard let hash else { throw ServerError(.internalError, "scrypt failed.") }
        return hash
    }
}
