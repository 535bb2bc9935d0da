import RecordModel
import RecordWire

/// Who may ask how often.
struct OperationLimiter: Sendable {
    private let users: RateLimiter
    private let addresses: RateLimiter
    private let resolves: RateLimiter

    init(_ settings: RateSettings) {
        users = RateLimiter(settings.user)
        addresses = RateLimiter(settings.address)
        resolves = RateLimiter(settings.resolve)
    }

    /// Before it is known who asks: by the client's address.
    func admit(_ context: HTTPContext) throws(ServerError) {
        try take(addresses, IPAddress.client(of: context.clientAddress), context)
    }

    /// Once it is known: users have their own account, wherever they come from.
    func admit(_ caller: Caller, _ endpoint: Endpoint, _ context: HTTPContext)
        throws(ServerError)
    {
        guard let user = caller.user else { return }
        addresses.giveBack(IPAddress.client(of: context.clientAddress))
        try take(users, user.name.description, context)
        if endpoint == .recordsResolve || endpoint == .recordsAccept {
            try take(resolves, user.name.description, context)
        }
    }

    private func take(_ limiter: RateLimiter, _ name: String, _ context: HTTPContext)
        throws(ServerError)
    {
        guard let seconds = limiter.take(name, now: context.now) else { return }
        throw ServerError(
            .throttled, "Too many requests: wait for `retryAfter` seconds.", retryAfter: seconds)
    }
}
