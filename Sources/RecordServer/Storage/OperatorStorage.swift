package import RecordModel
package import RecordWire

/// What only who runs the server asks of its storage.
package protocol OperatorReader {
    /// Of all containers and environments, with zones or without.
    func databases(of owner: UserName) throws(ServerError) -> [DatabaseKey]
    /// The newest first, each with a number that it keeps.
    func numberedShareReports(limit: Int) throws(ServerError) -> [(number: Int64, ShareReport)]
    /// How many rows a container has of everything but records, and how many zones.
    func counts(of container: Text) throws(ServerError) -> ContainerCounts
}

package protocol OperatorWriter {
    /// Forgets an account with its credentials, devices, subscriptions and events. Zones and shares are
    /// the caller's to end before.
    func removeUser(_ user: UserName) throws(ServerError)
    /// Forgets a container with its tokens, keys, sign-ins, schemas and roles, whose zones the caller
    /// has erased.
    func removeContainer(_ name: Text) throws(ServerError)
    /// Returns whether there was one.
    func removeShareReport(_ number: Int64) throws(ServerError) -> Bool
}

package struct ContainerCounts: Hashable, Sendable {
    package var zones: Int64 = 0
    package var records: Int64 = 0
    package var tokens: Int64 = 0
    package var keys: Int64 = 0
    package var sessions: Int64 = 0
}

/// One thing that was looked at, and what was found.
package struct Finding: Hashable, Sendable {
    package enum Grade: String, Sendable, Comparable {
        case good = "ok"
        case warning, bad

        private var rank: Int { self == .good ? 0 : self == .warning ? 1 : 2 }
        package static func < (left: Grade, right: Grade) -> Bool { left.rank < right.rank }
    }

    package let grade: Grade
    package let what: String
    package let detail: String

    package init(_ grade: Grade, _ what: String, _ detail: String) {
        self.grade = grade
        self.what = what
        self.detail = detail
    }
}
