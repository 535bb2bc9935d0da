import RecordModel
import RecordStore
import RecordStoreSync
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
    fileprivate func due(
        _ kind: SyncEvent.Kind, _ zone: ZoneID?, hasProgress: Bool
    ) -> Timestamp? {
        jobs.withLock { jobs in
            guard let job = jobs[zone], job.kind == kind, job.begun == nil,
                hasProgress || !job.isRetry
            else { return nil }
            return job.start
        }
    }

    fileprivate func note(_ id: Int64, _ zone: ZoneID?) {
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

extension Exchange {
    /// Tells of an exchange that runs, in the transaction that begins it. Does nothing when an event
    /// has told of it, and without an engine.
    ///
    /// - Parameter hasProgress: whether the server has taken or sent something.
    func noteBegin(
        _ kind: SyncEvent.Kind, _ zone: ZoneID?, hasProgress: Bool = false,
        _ transaction: Transaction
    ) throws(RecordError) {
        guard let start = running.due(kind, zone, hasProgress: hasProgress) else { return }
        let id = try transaction.feed.begin(
            SyncEvent(kind, database, zone, start: start, end: nil))
        transaction.whenCommitted { [running] in running.note(id, zone) }
    }

    /// Notes changes that the server does not take as failed exports, for those who follow events.
    func noteRefusals(
        _ refusals: [(record: SyncEvent.Record, reason: String)], of zone: SyncedZone,
        _ transaction: Transaction
    ) throws(RecordError) {
        func note(_ error: String, _ record: SyncEvent.Record?) throws(RecordError) {
            try transaction.feed.note(
                SyncEvent(
                    .export, database, zone.id, start: transaction.now, end: transaction.now,
                    error: error, record: record))
        }
        for refusal in refusals.prefix(Self.toldRefusals) {
            try note(refusal.reason, refusal.record)
        }
        let rest = refusals.count - Self.toldRefusals
        guard rest > 0 else { return }
        try note("\(rest) more records were refused. recordfs errors lists all.", nil)
    }

    /// The number of refused records of one request that get an event each.
    private static let toldRefusals = 100
}
