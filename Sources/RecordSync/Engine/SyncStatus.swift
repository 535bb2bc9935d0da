package import RecordModel
import RecordWire

/// The state of sync, for `status` and for people.
package struct SyncStatus: Sendable {
    package let isPaused: Bool
    package let needsSignIn: Bool
    /// Indicates that no work is running and none is due.
    package let isIdle: Bool
    /// The last problems that were not resolved since.
    package let problems: [Problem]
    /// The time when the server last reported news. Nil since the process began.
    package var lastFetch: Timestamp?
    /// The time of the next attempt after a failure. Nil without a failure, and when no attempt is
    /// planned.
    package var nextTry: Timestamp?
    /// The first downloads that are running.
    package var downloads: [DownloadProgress.Zone] = []

    package struct Problem: Sendable {
        /// The zone. Nil when the problem does not belong to a single zone.
        package let zone: ZoneID?
        package let problem: SyncProblem
        package let since: Timestamp
        /// The number of failures in a row.
        package let failures: Int
    }
}

extension SyncStatus {
    /// The status of several databases of one account together.
    package init(_ all: [SyncStatus]) {
        self.init(
            isPaused: all.contains(where: \.isPaused),
            needsSignIn: all.contains(where: \.needsSignIn), isIdle: all.allSatisfy(\.isIdle),
            problems: all.flatMap(\.problems), lastFetch: all.compactMap(\.lastFetch).min(),
            nextTry: all.compactMap(\.nextTry).min(), downloads: all.flatMap(\.downloads))
    }
}

/// The last problem of each zone, and of the rest, until work there succeeds.
struct SyncProblems: Sendable {
    private var byZone: [ZoneID?: SyncStatus.Problem] = [:]

    var all: [SyncStatus.Problem] {
        byZone.values.sorted { ($0.zone?.rawValue ?? 0) < ($1.zone?.rawValue ?? 0) }
    }

    /// Notes a problem.
    /// - Returns: whether the problem is the first one of the zone, or of another kind than the
    ///   problem before it. Refusals with different error codes are of different kinds.
    @discardableResult
    mutating func note(_ problem: SyncProblem, of zone: ZoneID?, at now: Timestamp) -> Bool {
        let earlier = byZone[zone]
        byZone[zone] = SyncStatus.Problem(
            zone: zone, problem: problem, since: earlier?.since ?? now,
            failures: (earlier?.failures ?? 0) + 1)
        return earlier?.problem.kind != problem.kind
    }

    func has(_ zone: ZoneID?) -> Bool { byZone[zone] != nil }

    mutating func clear(_ zone: ZoneID?) { byZone[zone] = nil }
}
