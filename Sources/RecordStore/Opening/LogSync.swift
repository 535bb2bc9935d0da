import Glibc
import RecordModel
import Synchronization

/// Puts commits on stable storage: fdatasync of the write-ahead log by a descriptor of our own.
///
/// With synchronous=NORMAL SQLite itself syncs only at checkpoints. A commit is either in the log,
/// which this class syncs, or was moved to the database by a checkpoint, which syncs it
/// (https://www.sqlite.org/wal.html). A descriptor on the log is safe: SQLite keeps its POSIX locks
/// on the database and on the -shm file, which this process must never open by itself.
///
/// After a failed sync the kernel has dropped the dirty pages, and a second sync would succeed
/// without them. So the failure is remembered until the store is opened again.
final class LogSync: Sendable {
    private struct State {
        var commits = 0
        var synced = 0
        var failure: RecordError?
    }

    private let descriptor: Int32
    /// Guards the counters only; never held while syncing.
    private let state = Mutex(State())

    /// Opens the log. The log must exist: this connection has written some transaction.
    init(path: String) throws(RecordError) {
        descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
    }

    deinit { Glibc.close(descriptor) }

    /// The size of the log's file in bytes.
    var length: Int64 {
        var information = stat()
        return fstat(descriptor, &information) == 0 ? Int64(information.st_size) : 0
    }

    func committed() { state.withLock { $0.commits += 1 } }

    /// Remembers a failure: for tests, and for a checkpoint that failed to sync.
    func latch(_ error: RecordError) {
        state.withLock { if $0.failure == nil { $0.failure = error } }
    }

    func sync() throws(RecordError) {
        let (commits, synced, failure) = state.withLock { ($0.commits, $0.synced, $0.failure) }
        if let failure { throw failure }
        guard commits > synced else { return }
        guard fdatasync(descriptor) == 0 else {
            let error = RecordError(
                .ioFailure,
                "The disk did not store the written data (errno \(errno)); check it, then "
                    + "unmount and mount again.", errno: errno)
            latch(error)
            throw error
        }
        state.withLock { $0.synced = max($0.synced, commits) }
    }
}
