package import RecordModel
package import RecordWire

/// Why a piece of work of the engine has ended without its result.
package enum SyncProblem: Error, Sendable {
    /// The server refused the request as a whole.
    case refused(WireError)
    /// No answer: the network, a connection that broke, a server that is down. The server may have
    /// done what was asked.
    case unreachable(String)
    /// An answer that is not of the protocol: a page of some proxy, a text cut short.
    case unreadable(String)
    /// The server answers, and nothing comes of it.
    case fruitless(String)
    /// The store here cannot.
    case store(RecordError)

    package var reaction: Reaction {
        switch self {
        case .refused(let error): Reaction(error)
        case .unreachable, .unreadable, .fruitless, .store: .retry
        }
    }

    /// Whether a feed begins anew. What Apple's service says of a token that is not good any more,
    /// its reference does not tell: also a bad request whose reason names the token counts.
    var isAboutToken: Bool {
        if reaction == .restartFeed { return true }
        guard case .refused(let error) = self, error.code == .badRequest else { return false }
        return error.reason.string.lowercased().contains("token")
    }

    /// Whether no answer came.
    var isUnanswered: Bool {
        if case .unreachable = self { true } else { false }
    }

    /// Whether nothing that the server itself says came: no answer, or one of something on the way, which may
    /// be there before the server is.
    var isWithoutAnswer: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .refused, .fruitless, .store: false
        }
    }

    /// Whether something on the way may have refused the request for its size.
    var mayBeItsSize: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .refused, .fruitless, .store: false
        }
    }

    /// Whether the server may have done what it was asked, although it does not say so.
    var mayBeDone: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .fruitless, .store: false
        case .refused(let error): error.code == .internalError || error.code == .tryAgainLater
        }
    }

    /// What the server asked for, at least. Apple's service has been seen to ask for more than a day.
    package var retryAfter: Duration? {
        guard case .refused(let error) = self, let seconds = error.retryAfter else { return nil }
        return .seconds(min(max(seconds, 0), 30 * 86_400))
    }

    /// Whether the server only asks for a pause: nothing is wrong, and nobody has to do anything.
    package var isWait: Bool {
        guard case .refused(let error) = self else { return false }
        return error.code == .throttled
    }

    /// Whether all other work would meet it too.
    package var isOfServer: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .store, .fruitless: false
        case .refused(let error):
            switch error.code {
            case .throttled, .tryAgainLater, .authenticationFailed, .authenticationRequired: true
            default: false
            }
        }
    }
}

extension SyncProblem: CustomStringConvertible {
    /// For status and errors: what happened, with the request's identifier in the server's log.
    package var description: String {
        switch self {
        case .refused where isWait:
            "The server has asked to wait a while; what is left follows by itself."
        case .refused(let error):
            "\(error.text): \(error.reason)"
                + (error.requestID.map { " (request \($0))" } ?? "")
        case .unreachable(let reason): "The server cannot be reached: \(reason)"
        case .unreadable(let reason): "The server's answer is not of the protocol: \(reason)"
        case .fruitless(let reason): reason
        case .store(let error): "\(error)"
        }
    }
}

extension SyncProblem {
    /// For the log: what others share is named in none, which outlives the share, and reasons name records.
    func description(inLogOf database: Database) -> String {
        guard database == .shared else { return description }
        switch self {
        case .refused(let error):
            return "\(error.text)" + (error.requestID.map { " (request \($0))" } ?? "")
        case .store(let error): return error.code.rawValue
        case .unreachable, .unreadable, .fruitless: return description
        }
    }
}
