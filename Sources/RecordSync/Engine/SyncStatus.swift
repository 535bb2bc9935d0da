package import RecordModel
import RecordStore
import RecordWire

/// How sync stands, for status and for people.
package struct SyncStatus: Sendable {
    package let isPaused: Bool
    package let needsSignIn: Bool
    /// Nothing is under way, and nothing is due.
    package let isIdle: Bool
    /// What went wrong last and was not put right since.
    package let problems: [Problem]
    /// When the server last told what is new; nil since the process began.
    package var lastFetch: Timestamp?
    /// When what has failed is tried again; nil when nothing has, or nothing is planned.
    package var nextTry: Timestamp?
    /// First downloads that go on.
    package var downloads: [DownloadProgress.Zone] = []

    package struct Problem: Sendable {
        /// Nil when it is of no single zone.
        package let zone: ZoneID?
        package let problem: SyncProblem
        package let since: Timestamp
        /// In a row.
        package let failures: Int
    }
}

extension SyncStatus {
    /// Of several databases of one account.
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

    /// - Returns: whether it is another one than before.
    @discardableResult
    mutating func note(_ problem: SyncProblem, of zone: ZoneID?, at now: Timestamp) -> Bool {
        let earlier = byZone[zone]
        byZone[zone] = SyncStatus.Problem(
            zone: zone, problem: problem, since: earlier?.since ?? now,
            failures: (earlier?.failures ?? 0) + 1)
        guard case .refused(let new) = problem, case .refused(let old)? = earlier?.problem else {
            return earlier == nil
        }
        return new.text != old.text
    }

    mutating func clear(_ zone: ZoneID?) { byZone[zone] = nil }
}
