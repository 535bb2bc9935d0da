import NIOCore
import Synchronization

/// The open connections, counted in all and by client.
///
/// Where there is no room for a new one, the table ends one that waits for its client: first those
/// between two requests, then those whose request does not end; of each kind the one that waits for
/// longest. So whoever holds connections without using them keeps nobody out, not even behind the
/// same address: a newcomer who sends its request at once is the last to be ended.
final class ConnectionTable: Sendable {
    private struct State {
        var all = 0
        var byClient: [String: [ObjectIdentifier: ConnectionPlace]] = [:]
    }

    private let limits: HTTPLimits
    /// Proxies speak for many clients.
    private let unlimited: [AddressRange]
    private let state = Mutex(State())

    init(limits: HTTPLimits, unlimited: [AddressRange]) {
        self.limits = limits
        self.unlimited = unlimited
    }

    /// A place for a new connection, which it has until `close`; says what is wrong when it is one
    /// too many and none of the others can be ended.
    func open(_ address: String) -> (place: ConnectionPlace, refused: RefusedConnection?) {
        let isLimited = !unlimited.contains { $0.contains(address) }
        let place = ConnectionPlace(client: IPAddress.client(of: address))
        let (refused, shed) = state.withLock { state in
            state.all += 1
            state.byClient[place.client, default: [:]][ObjectIdentifier(place)] = place
            var shed: [ConnectionPlace] = []
            if isLimited, count(of: place.client, state) > limits.connectionsPerAddress {
                guard let other = victim(in: state.byClient[place.client] ?? [:]) else {
                    return (RefusedConnection.address as RefusedConnection?, shed)
                }
                remove(other, &state)
                shed.append(other)
            }
            if state.all > limits.connections {
                let others = state.byClient.values.compactMap { victim(in: $0) }
                guard let other = others.max(by: { $0.patience < $1.patience }) else {
                    return (.server, shed)
                }
                remove(other, &state)
                shed.append(other)
            }
            return (nil, shed)
        }
        for other in shed { other.shed() }
        return (place, refused)
    }

    func close(_ place: ConnectionPlace) { state.withLock { remove(place, &$0) } }

    private func count(of client: String, _ state: State) -> Int {
        state.byClient[client]?.count ?? 0
    }

    /// The one that waits for its client for longest. A new one waits for nothing yet.
    private func victim(in places: [ObjectIdentifier: ConnectionPlace]) -> ConnectionPlace? {
        let longest = places.values.max { $0.patience < $1.patience }
        return longest.flatMap { $0.patience > 0 ? $0 : nil }
    }

    /// Harmless when repeated.
    private func remove(_ place: ConnectionPlace, _ state: inout State) {
        guard state.byClient[place.client]?.removeValue(forKey: ObjectIdentifier(place)) != nil
        else { return }
        state.all -= 1
        if state.byClient[place.client]?.isEmpty == true { state.byClient[place.client] = nil }
    }
}

/// The place of a connection in the table: what it waits for, and how to end it.
final class ConnectionPlace: Sendable {
    /// What a connection waits for; those further down are ended first.
    enum Waiting: UInt64 {
        /// Nothing: its client waits for the server.
        case none
        /// The end of a request, or the first one.
        case requestEnd
        /// Another request.
        case nextRequest
    }

    let client: String
    private let waiting = Atomic<UInt64>(0)
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    init(client: String) { self.client = client }

    /// Larger for what is to be ended before others; 0 for what is not.
    var patience: UInt64 { waiting.load(ordering: .relaxed) }

    /// Notes what the connection waits for, and since when.
    func note(_ waiting: Waiting, since start: NIODeadline) {
        // Kind in the upper bits, then the one that has waited for longer.
        let age = (1 << 56) - 1 - start.uptimeNanoseconds / 1_000_000
        self.waiting.store(
            waiting == .none ? 0 : waiting.rawValue << 56 | age, ordering: .relaxed)
    }

    /// How `shed` ends the connection, on whatever thread. To be set to nil when there is nothing to
    /// end any more: the connection has its place, and would keep itself for ever.
    func onShed(_ body: (@Sendable () -> Void)?) { end.withLock { $0 = body } }

    func shed() {
        let body = end.withLock { $0 }
        body?()
    }
}

/// Why a connection is refused.
enum RefusedConnection: String {
    case server = "connections"
    case address = "connections-per-address"
}
