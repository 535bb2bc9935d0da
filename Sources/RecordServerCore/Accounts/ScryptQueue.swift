import Dispatch
import RecordModel
package import RecordWire
import Synchronization

/// The queue in which passwords are hashed. It has threads of its own. Any number of simultaneous
/// sign-ins takes only the memory of as many hashes as the queue computes at once, and leaves the
/// threads of other requests alone.
///
/// Waiting jobs are served by rank, not by arrival. People who guess passwords have failures behind
/// them, so they wait behind everybody else, and give up their place when there is no more room.
package final class ScryptQueue: Sendable {
    /// The queue of this process. It computes one hash after the other, because a hash takes 16
    /// MiB, half of the memory that all requests hold together.
    package static let shared = ScryptQueue(width: 1, maximumWaiting: 50)

    private enum Outcome: Sendable {
        case hash([UInt8]?)
        case noRoom
    }

    private struct Job: Sendable {
        let number: UInt64
        let rank: ScryptRank
        let work: @Sendable () -> [UInt8]?
        let done: CheckedContinuation<Outcome, Never>

        /// Returns whether this job is served before the other.
        func precedes(_ other: Job) -> Bool { (rank, number) < (other.rank, other.number) }
    }

    private struct State: Sendable {
        var running = 0
        var count: UInt64 = 0
        var waiting: [Job] = []
    }

    private let queue = DispatchQueue(label: "recordfs.scrypt", attributes: .concurrent)
    private let width: Int
    private let maximumWaiting: Int
    private let state = Mutex(State())

    package init(width: Int, maximumWaiting: Int) {
        self.width = width
        self.maximumWaiting = maximumWaiting
    }

    /// The number of hashes that are being computed, and the number of jobs that wait.
    var load: (running: Int, waiting: Int) {
        state.withLock { ($0.running, $0.waiting.count) }
    }

    /// Returns a hash. Errors: `tryAgainLater` when too many jobs of a better or the same rank are
    /// waiting; never for a rank that is patient.
    package func derive(
        _ password: [UInt8], salt: [UInt8], cost: Password.Cost,
        rank: ScryptRank = .stranger(failures: 0)
    ) async throws(ServerError) -> [UInt8] {
        try await perform(rank) {
            Scrypt.hash(password, salt: salt, cost: cost, byteCount: StoredPassword.hashBytes)
        }
    }

    /// Does the work of a hash when it is its turn. A result of nil is a failure.
    func perform(
        _ rank: ScryptRank, _ work: @escaping @Sendable () -> [UInt8]?
    ) async throws(ServerError) -> [UInt8] {
        let outcome = await withCheckedContinuation { done in submit(rank, done, work) }
        switch outcome {
        case .hash(let hash?): return hash
        case .hash(nil): throw ServerError(.internalError, "scrypt failed.")
        case .noRoom:
            throw ServerError(
                .tryAgainLater, "Too many people sign in at this moment.", retryAfter: 10)
        }
    }

    private func submit(
        _ rank: ScryptRank, _ done: CheckedContinuation<Outcome, Never>,
        _ work: @escaping @Sendable () -> [UInt8]?
    ) {
        let (first, refused) = state.withLock { state -> (Job?, Job?) in
            let job = Job(number: state.count, rank: rank, work: work, done: done)
            state.count += 1
            if state.running < width {
                state.running += 1
                return (job, nil)
            }
            return (nil, place(job, &state))
        }
        refused?.done.resume(returning: .noRoom)
        if let first { run(first) }
    }

    /// Places the job, and returns the job that there is no room for. Returns nil when there is
    /// room for all.
    private func place(_ job: Job, _ state: inout State) -> Job? {
        let impatient = state.waiting.indices.filter { !state.waiting[$0].rank.isPatient }
        guard !job.rank.isPatient, impatient.count >= maximumWaiting else {
            state.waiting.append(job)
            return nil
        }
        let last = impatient.max { state.waiting[$0].precedes(state.waiting[$1]) }
        guard let last, job.precedes(state.waiting[last]) else { return job }
        let refused = state.waiting[last]
        state.waiting[last] = job
        return refused
    }

    private func run(_ job: Job) {
        queue.async { [self] in
            job.done.resume(returning: .hash(job.work()))
            if let next = next() { run(next) }
        }
    }

    /// Returns the next job. Returns nil when nobody waits.
    private func next() -> Job? {
        state.withLock { state in
            let waiting = state.waiting
            guard let best = waiting.indices.min(by: { waiting[$0].precedes(waiting[$1]) }) else {
                state.running -= 1
                return nil
            }
            return state.waiting.remove(at: best)
        }
    }
}
