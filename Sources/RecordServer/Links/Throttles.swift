package import RecordModel
package import RecordWire

/// Counts how often somebody has done something, over all processes of a server.
package protocol Throttles: Sendable {
    /// Takes one from each of these accounts, or from none of them when one has nothing left: then
    /// how long it takes until all have something.
    func take(_ charges: [ThrottleCharge], now: Timestamp) async throws(ServerError) -> Duration?
    /// Takes so many from this account, which may owe some afterwards: for what is known only when
    /// it is done.
    func spend(_ charge: ThrottleCharge, times: Int64, now: Timestamp) async throws(ServerError)
    /// Puts one back into each.
    func giveBack(_ charges: [ThrottleCharge], now: Timestamp) async throws(ServerError)
    /// How many are missing in this account, a part of one counted as one.
    func missing(_ charge: ThrottleCharge, now: Timestamp) async throws(ServerError) -> Int64
    /// Makes each as full as it can be.
    func forget(_ charges: [ThrottleCharge]) async throws(ServerError)
}

/// One account that something is taken from.
package struct ThrottleCharge: Hashable, Sendable {
    /// What is counted.
    package enum Kind: String, Hashable, Sendable {
        case requestsOfUser = "requests of user"
        case requestsOfAddress = "requests of address"
        case shortGUIDsOfUser = "short GUIDs of user"
        case accessRequestsOfUser = "access requests of user"
        case shareReportsOfUser = "share reports of user"
        case failuresOfDevice = "failures of device"
        case failuresOfAddressForAccount = "failures of address for account"
        case failuresOfAddress = "failures of address"
        case failuresForAccount = "failures for account"
        case repeatedFailuresForAccount = "repeated failures for account"
        case invitationsOfUser = "invitations of user"
    }

    package let kind: Kind
    /// Whose account.
    package let name: String
    package let allowance: Allowance

    package init(_ kind: Kind, _ name: String, _ allowance: Allowance) {
        self.kind = kind
        self.name = name
        self.allowance = allowance
    }
}

extension ThrottleCharge {
    /// Each request for access may be a line in somebody's feed: twenty at once, then one in five
    /// minutes, whatever the operator lets people ask of their own.
    static func accessRequest(of user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .accessRequestsOfUser, user.description,
            Allowance(count: 20, milliseconds: 5 * 60 * 1_000))
    }

    /// Two hundred at once, then one in half a minute: somebody reads each.
    static func invitation(by user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .invitationsOfUser, user.description, Allowance(count: 200, milliseconds: 30_000))
    }

    /// Five at once, then one in an hour: somebody reads them.
    static func shareReport(of user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .shareReportsOfUser, user.description,
            Allowance(count: 5, milliseconds: 60 * 60 * 1_000))
    }
}

/// What an account holds, and how fast it fills again.
package struct Allowance: Hashable, Sendable {
    /// Until one of what was taken is there again, in nanoseconds.
    package let interval: Int64
    /// Until all is there again, in nanoseconds.
    package let whole: Int64

    /// Sums of some of these stay far below what an Int64 holds.
    private static let most = 1e18

    package init(count: Double, nanoseconds: Double) {
        interval = Int64(min(max(1, nanoseconds.rounded()), Self.most))
        whole = Int64(min(max(0, count * Double(interval)), Self.most))
    }

    package init(count: Int64, milliseconds: Int64) {
        self.init(count: Double(count), nanoseconds: Double(milliseconds) * 1e6)
    }

    /// Nil for no limit.
    package init?(_ bucket: RateSettings.Bucket) {
        guard bucket.perSecond > 0 else { return nil }
        self.init(count: bucket.burst, nanoseconds: 1e9 / bucket.perSecond)
    }
}
