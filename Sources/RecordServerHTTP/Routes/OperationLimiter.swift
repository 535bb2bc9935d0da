import RecordModel
import RecordServerCore
import RecordWire

/// The rates at which callers may send requests.
struct OperationLimiter: Sendable {
    private let throttles: any Throttles
    /// The allowance of a user. It is nil for no limit.
    private let user: Allowance?
    private let address: Allowance?
    private let resolve: Allowance?

    init(_ settings: RateSettings, _ throttles: any Throttles) {
        self.throttles = throttles
        user = Allowance(settings.user)
        address = Allowance(settings.address)
        resolve = Allowance(settings.resolve)
    }

    /// Charges the client's address, before the caller is known.
    func admit(_ context: HTTPContext) async throws(ServerError) {
        try await take(address.map { [Self.charge($0, context)] } ?? [], context)
    }

    /// Charges the caller. Users have accounts of their own, wherever they connect from.
    func admit(
        _ caller: Caller, _ endpoint: Endpoint, _ context: HTTPContext
    ) async throws(ServerError) {
        guard let user = caller.user else { return }
        let name = user.name.description
        if let address {
            try await throttles.giveBack([Self.charge(address, context)], now: context.now)
        }
        try await take(
            self.user.map { [ThrottleCharge(.requestsOfUser, name, $0)] } ?? [], context)
        if [.recordsResolve, .recordsAccept, .recordsDecline].contains(endpoint) {
            try await take(
                resolve.map { [ThrottleCharge(.shortGUIDsOfUser, name, $0)] } ?? [], context)
        }
        if endpoint == .recordsRequestAccess {
            try await take([.accessRequest(of: user.name)], context)
        }
    }

    private static func charge(_ allowance: Allowance, _ context: HTTPContext) -> ThrottleCharge {
        ThrottleCharge(
            .requestsOfAddress, IPAddress.client(of: context.clientAddress), allowance)
    }

    private func take(
        _ charges: [ThrottleCharge], _ context: HTTPContext
    ) async throws(ServerError) {
        guard !charges.isEmpty,
            let wait = try await throttles.take(charges, now: context.now)
        else { return }
        throw ServerError(
            .throttled, "Too many requests: wait for `retryAfter` seconds.",
            retryAfter: wait.wholeSeconds)
    }
}
