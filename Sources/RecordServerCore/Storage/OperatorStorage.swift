package import RecordModel
package import RecordWire

/// The questions to the storage that only the operator of the server asks.
package protocol OperatorReader {
    /// Returns the databases in all containers and environments, with zones or without.
    func databases(of owner: UserName) throws(ServerError) -> [DatabaseKey]
    /// Returns the reports, the newest first, each with a number that it keeps.
    func numberedShareReports(limit: Int) throws(ServerError) -> [(number: Int64, ShareReport)]
    /// Returns how many rows a container has of everything except records, and how many zones.
    func counts(of container: Text) throws(ServerError) -> ContainerCounts
}

package protocol OperatorWriter {
    /// Removes an account with its credentials, devices, subscriptions and events. The caller ends
    /// its zones and shares before.
    func removeUser(_ user: UserName) throws(ServerError)
    /// Removes a container with its tokens, keys, sign-ins, schemas and roles. The caller has
    /// erased its zones before.
    func removeContainer(_ name: Text) throws(ServerError)
    /// Removes the report and returns whether there was one.
    func removeShareReport(_ number: Int64) throws(ServerError) -> Bool
}

package struct ContainerCounts: Hashable, Sendable {
    package var zones: Int64 = 0
    package var records: Int64 = 0
    package var tokens: Int64 = 0
    package var keys: Int64 = 0
    package var sessions: Int64 = 0

    package init() {}
}

/// One thing that an inspection checked, and its result.
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
