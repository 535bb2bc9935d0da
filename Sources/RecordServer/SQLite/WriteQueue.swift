import Logging
import RecordModel
import RecordSQL
import RecordWire
import Synchronization

import class GRDB.Database
import protocol GRDB.DatabaseWriter

/// A body that waits to be run in a transaction, with the continuation of its caller.
struct WriteJob: Sendable {
    /// Runs the body; gives what to call when the commit is known to have happened (nil) or not.
    let run:
        @Sendable (SQLiteAccess) -> (
            succeeded: Bool, finish: @Sendable (ServerError?) -> Void
        )
    let fail: @Sendable (ServerError) -> Void

    init<Value: Sendable>(
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
        fail = { answer(.failure($0)) }
    }
}

/// The bodies that wait for the writing connection.
///
/// All that wait when it gets free run in one transaction, each in a savepoint, so that they share
/// one commit: writing to stable storage costs far more than most bodies. None is answered before
/// that commit.
final class WriteQueue: Sendable {
    private struct State {
        var waiting: [WriteJob] = []
        var isScheduled = false
    }

    /// More would only make the first of them wait longer.
    private static let groupLimit = 32

    private let database: any DatabaseWriter
    private let names: NameCache
    private let logger: Logger
    private let state = Mutex(State())

    init(database: any DatabaseWriter, names: NameCache, logger: Logger) {
        self.database = database
        self.names = names
        self.logger = logger
    }

    func add(_ job: WriteJob) {
        let isFirst = state.withLock { state in
            state.waiting.append(job)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule() }
    }

    /// One group for each turn on the connection: in memory, reads come between two of them.
    private func schedule() {
        database.asyncWriteWithoutTransaction { database in
            let group = self.state.withLock { state in
                let group = Array(state.waiting.prefix(Self.groupLimit))
                state.waiting.removeFirst(group.count)
                return group
            }
            self.commit(group, SQLConnection(database))
            let isMore = self.state.withLock { state in
                state.isScheduled = !state.waiting.isEmpty
                return state.isScheduled
            }
            if isMore { self.schedule() }
        }
    }

    private func commit(_ group: [WriteJob], _ connection: SQLConnection) {
        var finished: [@Sendable (ServerError?) -> Void] = []
        var newNames: [NameTable] = []
        do throws(RecordError) {
            try connection.run("BEGIN IMMEDIATE")
            for job in group {
                let access = SQLiteAccess(
                    connection, names: names.snapshot, isWriting: true, logger: logger)
                if group.count > 1 { try connection.run("SAVEPOINT body") }
                let (succeeded, finish) = job.run(access)
                finished.append(finish)
                if let error = access.lostTransaction { throw error }
                if succeeded { newNames.append(access.names) }
                try end(succeeded, group.count > 1, connection)
            }
            if connection.isInsideTransaction { try connection.run("COMMIT") }
        } catch {
            rollBack(connection)
            let failure = ServerError(storage: error, logger)
            for finish in finished { finish(failure) }
            for job in group.dropFirst(finished.count) { job.fail(failure) }
            return
        }
        Failpoint.pass(.serverCommitted)
        for table in newNames { names.add(table) }
        for finish in finished { finish(nil) }
    }

    /// A body that threw leaves nothing; the others of its group are not touched.
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

    /// SQLite may already have rolled back by itself, after SQLITE_FULL or SQLITE_IOERR.
    private func rollBack(_ connection: SQLConnection) {
        guard connection.isInsideTransaction else { return }
        do throws(RecordError) {
            try connection.run("ROLLBACK")
        } catch {
            logger.error("A rollback failed", metadata: ["cause": "\(error.message)"])
        }
    }
}
