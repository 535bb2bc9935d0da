import RecordModel
import RecordWire

/// Slows down guessing of passwords: each client has a number of failures to spend, which come back
/// with time.
///
/// Strangers spend their own: those of their address for this account and for all accounts. In
/// addition, all strangers together, from any number of addresses, have a number for each account:
/// one for the first attempt of an address, and another one for repeated attempts of an address.
/// Repeated guesses from many places therefore take nothing from a person who comes from a new
/// address. A browser or an address from which the owner has signed in before spends only its own
/// failures.
struct SignInThrottle: Sendable {
    /// An attempt to sign in to an account.
    struct Attempt: Hashable, Sendable {
        let account: Text
        /// The network address of the client.
        let address: String
        /// The known device of the client, if it is one of the account's owner.
        let device: Text?
        /// Indicates whether the account's owner has signed in from this address before.
        let isKnownAddress: Bool

        fileprivate var client: String { IPAddress.client(of: address) }

        /// The failures of this device or address with this account.
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

        /// The failures of this address with all accounts.
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
        /// The charges that other clients share.
        fileprivate let common: [ThrottleCharge]
        /// The rank with which the password waits to be checked.
        let rank: ScryptRank
    }

    let throttles: any Throttles

    /// Counts an attempt as a failure until `succeed` or `withdraw` takes it back, so that not all
    /// of several simultaneous attempts pass. Errors: `throttled`, with the time until the next
    /// attempt.
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

    /// Notes that the password was right. The failures of this device or address with the account
    /// are forgotten. Of the shared charges, only this attempt is taken back.
    func succeed(_ admission: Admission, now: Timestamp) async throws(ServerError) {
        try await throttles.forget([admission.own])
        try await throttles.giveBack(admission.common, now: now)
    }

    /// Notes that the password was not checked, so that the attempt was no failure.
    func withdraw(_ admission: Admission, now: Timestamp) async throws(ServerError) {
        try await throttles.giveBack([admission.own] + admission.common, now: now)
    }
}
