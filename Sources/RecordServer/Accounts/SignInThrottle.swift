import RecordModel
import RecordWire

/// Slows down guessing of passwords: whoever guesses has a number of failures to spend, which come
/// back with time.
///
/// Strangers spend their own: those of their address for this account and for all. However many
/// addresses they have, all strangers together have a number for an account too: one for the first
/// attempt of an address, and another one for those that an address repeats, so that repeated
/// guesses from many places take nothing from who comes from a new one. A browser or an address from
/// which the owner has signed in before spends nobody's but its own.
struct SignInThrottle: Sendable {
    /// Who tries, for which account.
    struct Attempt: Hashable, Sendable {
        let account: Text
        /// The network address of the client.
        let address: String
        /// The known device that it comes from, if it is one of the account's owner.
        let device: Text?
        /// Whether the account's owner has signed in from this address before.
        let isKnownAddress: Bool

        fileprivate var client: String { IPAddress.client(of: address) }

        /// What this device or address has failed at with this account.
        fileprivate var own: ThrottleCharge {
            if let device {
                return ThrottleCharge(
                    .failuresOfDevice, "\(device) \(account)",
                    Allowance(count: 30, milliseconds: 20_000))
            }
            return ThrottleCharge(
                .failuresOfAddressForAccount, "\(client) \(account)",
                Allowance(count: 10, milliseconds: 60_000))
        }

        /// What this address has failed at with all accounts.
        fileprivate var ofAddress: ThrottleCharge {
            ThrottleCharge(
                .failuresOfAddress, client, Allowance(count: 30, milliseconds: 20_000))
        }

        fileprivate func ofStrangers(isRepeated: Bool) -> ThrottleCharge {
            ThrottleCharge(
                isRepeated ? .repeatedFailuresForAccount : .failuresForAccount, account.string,
                Allowance(count: 200, milliseconds: isRepeated ? 20_000 : 10_000))
        }
    }

    /// An attempt that counts as a failure until it is known to be none.
    struct Admission: Hashable, Sendable {
        fileprivate let own: ThrottleCharge
        /// What others have a part in.
        fileprivate let common: [ThrottleCharge]
        /// Whose turn it is to have the password looked at.
        let rank: ScryptRank
    }

    let throttles: any Throttles

    /// Counts an attempt as a failure until `succeed` or `withdraw` takes it back, so that attempts
    /// at the same time do not all pass. Errors: `throttled`, with the time until the next attempt.
    func begin(_ attempt: Attempt, now: Timestamp) async throws(ServerError) -> Admission {
        let own = attempt.own
        guard attempt.device == nil, !attempt.isKnownAddress else {
            try await take([own], now: now)
            return Admission(
                own: own, common: [],
                rank: attempt.device == nil ? .knownAddress : .knownDevice)
        }
        let isRepeated = try await throttles.missing(own, now: now) > 0
        let common = [attempt.ofAddress, attempt.ofStrangers(isRepeated: isRepeated)]
        try await take([own] + common, now: now)
        let failures = try await throttles.missing(attempt.ofAddress, now: now)
        return Admission(own: own, common: common, rank: .stranger(failures: failures))
    }

    private func take(_ charges: [ThrottleCharge], now: Timestamp) async throws(ServerError) {
        guard let wait = try await throttles.take(charges, now: now) else { return }
        throw ServerError(
            .throttled, "Too many failed sign-ins.", retryAfter: wait.wholeSeconds)
    }

    /// The right password: what this device or address failed at with the account is forgotten; of
    /// the rest, which others have a part in, this attempt.
    func succeed(_ admission: Admission, now: Timestamp) async throws(ServerError) {
        try await throttles.forget([admission.own])
        try await throttles.giveBack(admission.common, now: now)
    }

    /// Nobody has looked at the password: it was no failure.
    func withdraw(_ admission: Admission, now: Timestamp) async throws(ServerError) {
        try await throttles.giveBack([admission.own] + admission.common, now: now)
    }
}

extension Duration {
    /// Rounded up, at least one.
    var wholeSeconds: Int {
        let parts = components
        return max(1, Int(parts.seconds) + (parts.attoseconds > 0 ? 1 : 0))
    }
}
