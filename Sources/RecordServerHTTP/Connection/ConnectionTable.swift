import NIOCore
import RecordServerCore
import Synchronization

/// The open connections, counted in total and by client.
///
/// When there is no room for a new connection, the table ends one that waits for its client: first
/// those between two requests, then those whose request does not end. Of each kind it ends the one
/// that has waited longest. A client that holds connections without using them therefore keeps
/// nobody out, not even behind the same address: a new client that sends its request at once is the
/// last to be ended.
final class ConnectionTable: Sendable {
    private struct State {
        var all = 0
        var byClient: [String: [ObjectIdentifier: ConnectionPlace]] = [:]
    }

    private let limits: HTTPLimits
    /// The proxies without a limit, because they speak for many clients.
    private let unlimited: [AddressRange]
    private let state = Mutex(State())

    init(limits: HTTPLimits, unlimited: [AddressRange]) {
        self.limits = limits
        self.unlimited = unlimited
    }

    /// Returns a place for a new connection, which keeps it until `close`. Also returns the reason
    /// for a refusal when there is one connection too many and none of the others can be ended.
    func open(_ address: String) -> (place: ConnectionPlace, refused: RefusedConnection?) {
        let isLimited = !unlimited.contains { $0.contains(address) }
        let place = ConnectionPlace(client: IPAddress.client(of: address))
        let (refused, shed) = state.withLock { state in
            var shed: [ConnectionPlace] = []
            let refused = makeRoom(for: place, isLimited, &state, &shed)
            // A refused connection ends soon, and counts no more.
            if refused == nil { add(place, &state) }
            return (refused, shed)
        }
        for other in shed { other.shed() }
        return (place, refused)
    }

    /// Ends as many connections as another one needs room. Returns the reason when it has none.
    private func makeRoom(
        for place: ConnectionPlace, _ isLimited: Bool, _ state: inout State,
        _ shed: inout [ConnectionPlace]
    ) -> RefusedConnection? {
        if isLimited, count(of: place.client, state) >= limits.connectionsPerAddress {
            guard let other = victim(in: state.byClient[place.client] ?? [:]) else {
                return .address
            }
            remove(other, &state)
            shed.append(other)
        }
        if state.all >= limits.connections {
            let others = state.byClient.values.compactMap { victim(in: $0) }
            guard let other = others.max(by: { $0.patience < $1.patience }) else { return .server }
            remove(other, &state)
            shed.append(other)
        }
        return nil
    }

    private func add(_ place: ConnectionPlace, _ state: inout State) {
        state.all += 1
        state.byClient[place.client, default: [:]][ObjectIdentifier(place)] = place
    }

    func close(_ place: ConnectionPlace) { state.withLock { remove(place, &$0) } }

    private func count(of client: String, _ state: State) -> Int {
        state.byClient[client]?.count ?? 0
    }

    /// Returns the connection that has waited longest for its client. A new one waits for nothing
    /// yet.
    private func victim(in places: [ObjectIdentifier: ConnectionPlace]) -> ConnectionPlace? {
        let longest = places.values.max { $0.patience < $1.patience }
        return longest.flatMap { $0.patience > 0 ? $0 : nil }
    }

    /// Removes a place. Calling it again is harmless.
    private func remove(_ place: ConnectionPlace, _ state: inout State) {
        guard state.byClient[place.client]?.removeValue(forKey: ObjectIdentifier(place)) != nil
        else { return }
        state.all -= 1
        if state.byClient[place.client]?.isEmpty == true { state.byClient[place.client] = nil }
    }
}

/// The place of a connection in the table, with the input that it waits for, and the way to end it.
final class ConnectionPlace: Sendable {
    /// The input that a connection waits for. Later kinds are ended first.
    enum Waiting: UInt64 {
        /// It waits for nothing: its client waits for the server.
        case none
        /// It waits for the end of a request, or for the first one.
        case requestEnd
        /// It waits for another request.
        case nextRequest
    }

    let client: String
    private let waiting = Atomic<UInt64>(0)
    private let end = Mutex<(@Sendable () -> Void)?>(nil)

    init(client: String) { self.client = client }

    /// The order for ending connections: larger values are ended first, and 0 is not ended.
    var patience: UInt64 { waiting.load(ordering: .relaxed) }

    /// Notes the input that the connection waits for, and since when.
    func note(_ waiting: Waiting, since start: NIODeadline) {
        // The kind is in the upper bits. Below it, a longer wait has a larger number.
        let age = (1 << 56) - 1 - start.uptimeNanoseconds / 1_000_000
        self.waiting.store(
            waiting == .none ? 0 : waiting.rawValue << 56 | age, ordering: .relaxed)
    }

    /// Sets the function with which `shed` ends the connection, on any thread. Set it to nil when
    /// there is nothing to end any more: the connection has its place, and would keep itself alive
    /// for ever.
    func onShed(_ body: (@Sendable () -> Void)?) { end.withLock { $0 = body } }

    func shed() {
        let body = end.withLock { $0 }
        body?()
    }
}

/// The reason for refusing a connection.
enum RefusedConnection: String {
    case server = "connections"
    case address = "connections-per-address"
}
