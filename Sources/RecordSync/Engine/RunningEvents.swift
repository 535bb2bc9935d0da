import RecordModel
import RecordStore
import Synchronization

/// The exchanges of a database that run, as far as events tell of them: who reads the events sees an
/// exchange before it is over.
///
/// An exchange that is tried again after a failure is told of only when the server has taken
/// something, because of failures in a row the first one is an event.
final class RunningEvents: Sendable {
    private struct Job: Sendable {
        var kind: SyncEvent.Kind
        var start: Timestamp
        let isRetry: Bool
        /// The number of the event, once it is stored.
        var begun: Int64?
    }

    private let jobs = Mutex<[ZoneID?: Job]>([:])

    /// Notes that a job begins.
    func begin(_ kind: SyncEvent.Kind, _ zone: ZoneID?, at start: Timestamp, isRetry: Bool) {
        jobs.withLock { $0[zone] = Job(kind: kind, start: start, isRetry: isRetry) }
    }

    /// Notes that a job goes on with another kind of work.
    func proceed(_ kind: SyncEvent.Kind, _ zone: ZoneID?, at start: Timestamp) {
        jobs.withLock { jobs in
            guard jobs[zone]?.begun == nil else { return }
            jobs[zone]?.kind = kind
            jobs[zone]?.start = start
        }
    }

    /// Returns the time at which an exchange began, if an event is to tell of it now.
    func due(
        _ kind: SyncEvent.Kind, _ zone: ZoneID?, hasProgress: Bool
    ) -> Timestamp? {
        jobs.withLock { jobs in
            guard let job = jobs[zone], job.kind == kind, job.begun == nil,
                hasProgress || !job.isRetry
            else { return nil }
            return job.start
        }
    }

    func note(_ id: Int64, _ zone: ZoneID?) {
        jobs.withLock { $0[zone]?.begun = id }
    }

    /// Returns whether an event has told of the beginning.
    func hasBegun(_ zone: ZoneID?) -> Bool { jobs.withLock { $0[zone]?.begun != nil } }

    /// Returns the number of the event of the beginning, and forgets it.
    func take(_ kind: SyncEvent.Kind, _ zone: ZoneID?) -> Int64? {
        jobs.withLock { jobs in
            guard let job = jobs[zone], job.kind == kind else { return nil }
            jobs[zone]?.begun = nil
            return job.begun
        }
    }

    /// Notes that a job is over. Returns the number of an event whose end nobody has noted.
    func end(_ zone: ZoneID?) -> Int64? {
        jobs.withLock { jobs in jobs.removeValue(forKey: zone)?.begun }
    }
}
