import RecordModel
import RecordWire
import Synchronization

/// Slows down guessing of passwords: each account and each network address has a number of
/// failures to spend, which come back with time. In memory of this process only.
final class SignInThrottle: Sendable {
    struct Allowance: Hashable, Sendable {
        /// How many failures at once.
        let failures: Int64
        /// How long until one of them is forgotten.
        let milliseconds: Int64

        static let account = Allowance(failures: 10, milliseconds: 60_000)
        static let address = Allowance(failures: 30, milliseconds: 20_000)
    }

    private enum Key: Hashable {
        case account(Text)
        case address(String)

        var allowance: Allowance {
            switch self {
            case .account: .account
            case .address: .address
            }
        }
    }

    /// A bound for memory, far above what a server of some thousand people sees.
    private static let maximumEntries = 20_000

    /// When each will have no failures left to forget; nothing for those without.
    private let debts = Mutex<[Key: Int64]>([:])

    /// Counts an attempt as a failure until `succeed` takes it back, so that attempts at the same
    /// time do not all pass. Errors: `throttled`, with the time until the next attempt.
    func begin(account: Text, address: String, at now: Int64) throws(ServerError) {
        let keys: [Key] = [.account(account), .address(address)]
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

    /// The right password: the account's failures are forgotten, and the attempt of the address.
    func succeed(account: Text, address: String, at now: Int64) {
        debts.withLock { debts in
            debts[.account(account)] = nil
            let key = Key.address(address)
            let debt = (debts[key] ?? now) - key.allowance.milliseconds
            debts[key] = debt > now ? debt : nil
        }
    }
}
