package import RecordModel
package import RecordWire

/// Counts how often a user or an address has done something, over all processes of a server.
package protocol Throttles: Sendable {
    /// Takes one from each of these accounts. When one account has nothing left, takes nothing and
    /// returns how long it takes until all have something.
    func take(_ charges: [ThrottleCharge], now: Timestamp) async throws(ServerError) -> Duration?
    /// Takes `times` from this account, which may owe some afterwards: for costs that are known
    /// only when the work is done.
    func spend(_ charge: ThrottleCharge, times: Int64, now: Timestamp) async throws(ServerError)
    /// Puts one back into each account.
    func giveBack(_ charges: [ThrottleCharge], now: Timestamp) async throws(ServerError)
    /// Returns how many are missing in this account. A part of one counts as one.
    func missing(_ charge: ThrottleCharge, now: Timestamp) async throws(ServerError) -> Int64
    /// Fills each account completely.
    func forget(_ charges: [ThrottleCharge]) async throws(ServerError)
}

/// One account that something is taken from.
package struct ThrottleCharge: Hashable, Sendable {
    /// The kind of action that is counted.
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
    /// The holder of the account.
    package let name: String
    package let allowance: Allowance

    package init(_ kind: Kind, _ name: String, _ allowance: Allowance) {
        self.kind = kind
        self.name = name
        self.allowance = allowance
    }
}

extension ThrottleCharge {
    /// The charge for a request for access. Each one may be a line in another person's feed, so the
    /// limit is twenty at once, then one in five minutes, whatever limit the operator sets for
    /// requests in general.
    package static func accessRequest(of user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .accessRequestsOfUser, user.description,
            Allowance(count: 20, milliseconds: 5 * 60 * 1_000))
    }

    /// The charge for an invitation: two hundred at once, then one in half a minute, because a
    /// person reads each of them.
    static func invitation(by user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .invitationsOfUser, user.description, Allowance(count: 200, milliseconds: 30_000))
    }

    /// The charge for a report of a share: five at once, then one in an hour, because a person
    /// reads them.
    package static func shareReport(of user: UserName) -> ThrottleCharge {
        ThrottleCharge(
            .shareReportsOfUser, user.description,
            Allowance(count: 5, milliseconds: 60 * 60 * 1_000))
    }
}

/// The size of an account, and how fast it fills again.
package struct Allowance: Hashable, Sendable {
    /// The time until one of the taken units is there again, in nanoseconds.
    package let interval: Int64
    /// The time until all are there again, in nanoseconds.
    package let whole: Int64

    /// A bound for both. Sums of some of these stay far below the maximum of an Int64.
    private static let most = 1e18

    package init(count: Double, nanoseconds: Double) {
        interval = Int64(min(max(1, nanoseconds.rounded()), Self.most))
        whole = Int64(min(max(0, count * Double(interval)), Self.most))
    }

    package init(count: Int64, milliseconds: Int64) {
        self.init(count: Double(count), nanoseconds: Double(milliseconds) * 1e6)
    }

    /// Makes the allowance of a bucket. Returns nil for no limit.
    package init?(_ bucket: RateSettings.Bucket) {
        guard bucket.perSecond > 0 else { return nil }
        self.init(count: bucket.burst, nanoseconds: 1e9 / bucket.perSecond)
    }
}
