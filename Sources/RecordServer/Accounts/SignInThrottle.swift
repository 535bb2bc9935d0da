import RecordModel
import RecordWire

/// Slows down guessing of passwords: whoever guesses has a number of failures to spend, which come
/// back with time.
///
/// Strangers spend their own: those of their address for this account and for all, and, however many
/// addresses they have, those of all strangers for this account. A browser in which the owner has
/// signed in before spends nobody's but its own, so that no stranger locks an owner out.
struct SignInThrottle: Sendable {
    /// Who tries, for which account.
    struct Attempt: Hashable, Sendable {
        let account: Text
        /// The network address of the client.
        let address: String
        /// The known device that it comes from, if it is one of the account's owner.
        let device: Text?

        /// What this device or address has failed at with this account.
        fileprivate var own: ThrottleCharge {
            if let device {
                return ThrottleCharge(
                    .failuresOfDevice, "\(device) \(account)",
                    Allowance(count: 30, milliseconds: 20_000))
            }
            return ThrottleCharge(
                .failuresOfAddressForAccount, "\(IPAddress.client(of: address)) \(account)",
                Allowance(count: 10, milliseconds: 60_000))
        }

        /// What others have a part in.
        fileprivate var common: [ThrottleCharge] {
            guard device == nil else { return [] }
            return [
                ThrottleCharge(
                    .failuresOfAddress, IPAddress.client(of: address),
                    Allowance(count: 30, milliseconds: 20_000)),
                ThrottleCharge(
                    .failuresForAccount, account.string,
                    Allowance(count: 200, milliseconds: 10_000)),
            ]
        }
    }

    let throttles: any Throttles

    /// Counts an attempt as a failure until `succeed` takes it back, so that attempts at the same
    /// time do not all pass. Errors: `throttled`, with the time until the next attempt.
    func begin(_ attempt: Attempt, now: Timestamp) async throws(ServerError) {
        guard let wait = try await throttles.take([attempt.own] + attempt.common, now: now) else {
            return
        }
        throw ServerError(
            .throttled, "Too many failed sign-ins.", retryAfter: wait.wholeSeconds)
    }

    /// The right password: what this device or address failed at with the account is forgotten; of
    /// the rest, which others have a part in, this attempt.
    func succeed(_ attempt: Attempt, now: Timestamp) async throws(ServerError) {
        try await throttles.forget([attempt.own])
        try await throttles.giveBack(attempt.common, now: now)
    }
}

extension Duration {
    /// Rounded up, at least one.
    var wholeSeconds: Int {
        let parts = components
        return max(1, Int(parts.seconds) + (parts.attoseconds > 0 ? 1 : 0))
    }
}
