import Logging
import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire
import Synchronization

/// A body that waits to be run in a transaction, with the continuation of its caller.
struct WriteJob: Sendable {
    /// Runs the body and returns the function to call when the commit is known to have happened
    /// (nil) or to have failed (an error).
    let run:
        @Sendable (SQLiteAccess) -> (
            succeeded: Bool, finish: @Sendable (ServerError?) -> Void
        )
    /// Answers the caller without having run the body.
    let fail: @Sendable (ServerError?) -> Void
    /// Indicates whether a power failure may undo the commit.
    let isHint: Bool

    init<Value: Sendable>(
        isHint: Bool,
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Value,
        _ answer: @escaping @Sendable (Result<Value, ServerError>) -> Void
    ) {
        run = { access in
            let outcome = Result { () throws(ServerError) in try body(access) }
            let isDone =
                switch outcome {
                case .success: true
                case .failure: false
                }
            return (isDone, { error in answer(error.map { .failure($0) } ?? outcome) })
        }
        fail = { error in
            answer(.failure(error ?? ServerError(.internalError, "A write was not run.")))
        }
        self.isHint = isHint
    }
}

/// The bodies that wait for the writing connection.
///
/// All bodies that wait when the connection becomes free run in one transaction, each in a
/// savepoint, so that they share one commit: writing to stable storage costs far more than most
/// bodies. No body is answered before that commit. A group of hints only does not wait for stable
/// storage; a hint in another group does.
final class WriteQueue: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        var isScheduled = false
        /// The setting of the connection.
        var synchronous: SQLiteStorage.Synchronous
    }

    /// The most bodies in a group. More would only make the first of them wait longer.
    private static let groupLimit = 32
    /// The time after which no more body joins a group that is at work.
    private static let groupTime = Duration.milliseconds(50)

    private let writer: SQLQueue
    private let caches: StorageCaches
    private let logger: Logger
    /// The setting for all groups but those of hints.
    private let synchronous: SQLiteStorage.Synchronous
    private let state: Mutex<State>

    init(
        writer: SQLQueue, synchronous: SQLiteStorage.Synchronous, caches: StorageCaches,
        logger: Logger
    ) {
        self.writer = writer
        self.synchronous = synchronous
        self.caches = caches
        self.logger = logger
        state = Mutex(State(synchronous: synchronous))
    }

    func add(_ job: WriteJob) {
        let isFirst = state.withLock { state in
            state.waiting.append(job)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    /// Runs one group for each turn on the connection. In memory, reads take place between two of
    /// them.
    private func schedule() {
        writer.enqueue { connection in
            self.commitGroup(connection)
            let isMore = self.state.withLock { state in
                state.isScheduled = !state.waiting.isEmpty
                return state.isScheduled
            }
            if isMore { self.schedule() }
        }
    }

    private func take(_ count: Int) -> [WriteJob] {
        state.withLock { state in
            let jobs = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(jobs.count)
            return jobs
        }
    }

    /// Takes the next body of a group. Returns nil when none may join it.
    private func takeNext(ofHints: Bool) -> WriteJob? {
        state.withLock { state in
            guard let job = state.waiting.first, job.isHint || !ofHints else { return nil }
            return state.waiting.removeFirst()
        }
    }

    /// Sets what the next commit waits for. A PRAGMA takes effect when it is prepared, so that a
    /// statement that is kept would do nothing.
    private func setSynchronous(ofHints: Bool, _ connection: SQLConnection) throws(RecordError) {
        let wanted = ofHints ? .normal : synchronous
        guard state.withLock({ $0.synchronous != wanted }) else { return }
        try connection.execute("PRAGMA synchronous = \(wanted.rawValue)")
        state.withLock { $0.synchronous = wanted }
    }

    /// The work that is left for the bodies of one transaction once its outcome is known.
    private struct Group {
        var finish: [@Sendable (ServerError?) -> Void] = []
        var names: [NameTable] = []
    }

    private func commitGroup(_ opened: Result<SQLConnection, RecordError>) {
        var group = Group()
        do throws(RecordError) {
            let connection = try opened.get()
            let isOfHints = state.withLock { $0.waiting.first?.isHint ?? false }
            do throws(RecordError) {
                try setSynchronous(ofHints: isOfHints, connection)
                try connection.run("BEGIN IMMEDIATE")
                try runGroup(&group, ofHints: isOfHints, connection)
                if connection.isInsideTransaction { try connection.run("COMMIT") }
            } catch {
                rollBack(connection)
                throw error
            }
        } catch {
            let failure = ServerError(storage: error, logger)
            // Without a transaction, no body was taken from the queue.
            if group.finish.isEmpty { group.finish = take(Self.groupLimit).map(\.fail) }
            for finish in group.finish { finish(failure) }
            return
        }
        Failpoint.pass(.serverCommitted)
        for table in group.names { caches.names.add(table) }
        for finish in group.finish { finish(nil) }
    }

    private func runGroup(
        _ group: inout Group, ofHints isOfHints: Bool, _ connection: SQLConnection
    ) throws(RecordError) {
        let end = ContinuousClock.now + Self.groupTime
        let isAlone = state.withLock { $0.waiting.count == 1 }
        repeat {
            guard let job = takeNext(ofHints: isOfHints) else { return }
            group.finish.append(job.fail)
            if !isAlone { try connection.run("SAVEPOINT body") }
            let access = SQLiteAccess(connection, caches, isWriting: true, logger: logger)
            let (succeeded, finish) = job.run(access)
            group.finish[group.finish.count - 1] = finish
            if let error = access.lostTransaction { throw error }
            if succeeded { group.names.append(access.names) }
            try self.end(succeeded, !isAlone, connection)
        } while !isAlone && group.finish.count < Self.groupLimit && ContinuousClock.now < end
    }

    /// Ends a body. A body that threw leaves nothing; the others of its group are not affected.
    private func end(
        _ succeeded: Bool, _ isGroup: Bool, _ connection: SQLConnection
    ) throws(RecordError) {
        switch (succeeded, isGroup) {
        case (true, true): try connection.run("RELEASE body")
        case (false, true):
            try connection.run("ROLLBACK TO body")
            try connection.run("RELEASE body")
        case (true, false): break
        case (false, false): try connection.run("ROLLBACK")
        }
    }

    private func rollBack(_ connection: SQLConnection) {
        do throws(RecordError) {
            try connection.rollBack()
        } catch {
            logger.error("A rollback failed", metadata: ["cause": "\(error.message)"])
        }
    }
}
