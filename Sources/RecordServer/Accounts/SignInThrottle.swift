import RecordModel
import RecordWire
import Synchronization

/// Slows down guessing of passwords: whoever guesses has a number of failures to spend, which come
/// back with time. In memory of this process only.
///
/// Strangers spend their own: those of their address for this account and for all, and, however many
/// addresses they have, those of all strangers for this account. A browser in which the owner has
/// signed in before spends nobody's but its own, so that no stranger locks an owner out.
final class SignInThrottle: Sendable {
    struct Allowance: Hashable, Sendable {
        /// How many failures at once.
        let failures: Int64
        /// How long until one of them is forgotten.
        let milliseconds: Int64

        static let device = Allowance(failures: 30, milliseconds: 20_000)
        static let addressForAccount = Allowance(failures: 10, milliseconds: 60_000)
        static let address = Allowance(failures: 30, milliseconds: 20_000)
        static let strangersForAccount = Allowance(failures: 200, milliseconds: 10_000)
    }

    /// Who tries, for which account.
    struct Attempt: Hashable, Sendable {
        let account: Text
        /// The network address of the client.
        let address: String
        /// The known device that it comes from, if it is one of the account's owner.
        let device: Text?

        fileprivate var keys: [Key] {
            if let device { return [.device(device, account)] }
            let client = IPAddress.client(of: address)
            return [.addressForAccount(client, account), .address(client), .strangers(account)]
        }
    }

    fileprivate enum Key: Hashable {
        case device(Text, Text)
        case addressForAccount(String, Text)
        case address(String)
        case strangers(Text)

        var allowance: Allowance {
            switch self {
            case .device: .device
            case .addressForAccount: .addressForAccount
            case .address: .address
            case .strangers: .strangersForAccount
            }
        }
    }

    /// A bound for memory, far above what a server of some thousand people sees.
    private static let maximumEntries = 20_000

    /// When each will have no failures left to forget; nothing for those without.
    private let debts = Mutex<[Key: Int64]>([:])

    /// Counts an attempt as a failure until `succeed` takes it back, so that attempts at the same
    /// time do not all pass. Errors: `throttled`, with the time until the next attempt.
    func begin(_ attempt: Attempt, at now: Int64) throws(ServerError) {
        let keys = attempt.keys
        let wait = debts.withLock { debts -> Int64? in
            let free = keys.map { key in
                let allowance = key.allowance
                return Self.debt(debts[key], key, at: now) - now - (allowance.failures - 1)
                    * allowance.milliseconds
            }
            if let wait = free.max(), wait > 0 { return wait }
            for key in keys {
                debts[key] = Self.debt(debts[key], key, at: now) + key.allowance.milliseconds
            }
            if debts.count > Self.maximumEntries { debts = debts.filter { $0.value > now } }
            return nil
        }
        guard let wait else { return }
        throw ServerError(
            .throttled, "Too many failed sign-ins.", retryAfter: Int((wait + 999) / 1000))
    }

    /// At most what all failures of the allowance make: a clock that was set back in the meantime
    /// must not lock anybody out until it is there again.
    private static func debt(_ noted: Int64?, _ key: Key, at now: Int64) -> Int64 {
        let most = now + key.allowance.failures * key.allowance.milliseconds
        return min(max(noted ?? now, now), most)
    }

    /// The right password: what this device or address failed at with the account is forgotten; of
    /// the rest, which others have a part in, this attempt.
    func succeed(_ attempt: Attempt, at now: Int64) {
        debts.withLock { debts in
            for key in attempt.keys {
                switch key {
                case .device, .addressForAccount: debts[key] = nil
                case .address, .strangers:
                    let debt = (debts[key] ?? now) - key.allowance.milliseconds
                    debts[key] = debt > now ? debt : nil
                }
            }
        }
    }
}
