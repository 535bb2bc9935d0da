import Synchronization

/// The open connections, counted in all and by address.
final class ConnectionTable: Sendable {
    private struct Counts {
        var all = 0
        var byAddress: [String: Int] = [:]
    }

    private let limits: HTTPLimits
    /// Proxies speak for many clients.
    private let unlimited: [AddressRange]
    private let counts = Mutex(Counts())

    init(limits: HTTPLimits, unlimited: [AddressRange]) {
        self.limits = limits
        self.unlimited = unlimited
    }

    /// Counts a new connection; says what is wrong when it is one too many. It counts until
    /// `close` in either case.
    func open(_ address: String) -> RefusedConnection? {
        let isLimited = !unlimited.contains { $0.contains(address) }
        return counts.withLock { counts in
            counts.all += 1
            let own = counts.byAddress[address, default: 0] + 1
            counts.byAddress[address] = own
            if counts.all > limits.connections { return .server }
            return isLimited && own > limits.connectionsPerAddress ? .address : nil
        }
    }

    func close(_ address: String) {
        counts.withLock { counts in
            counts.all -= 1
            let own = counts.byAddress[address, default: 1] - 1
            counts.byAddress[address] = own > 0 ? own : nil
        }
    }
}

/// Why a connection is refused.
enum RefusedConnection: String {
    case server = "connections"
    case address = "connections-per-address"
}
