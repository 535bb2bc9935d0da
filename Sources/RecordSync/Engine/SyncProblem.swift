package import RecordModel
package import RecordWire

/// The reason why a piece of work of the engine has ended without its result.
package enum SyncProblem: Error, Sendable {
    /// The server refused the request as a whole.
    case refused(WireError)
    /// No answer: the network, a broken connection, a server that is down. The server may have done
    /// the request.
    case unreachable(String)
    /// An answer that does not follow the protocol: a page of a proxy, an incomplete text.
    case unreadable(String)
    /// The server answers, but without any result.
    case fruitless(String)
    /// The local store failed.
    case store(RecordError)

    package var reaction: Reaction {
        switch self {
        case .refused(let error): Reaction(error)
        case .unreachable, .unreadable, .fruitless, .store: .retry
        }
    }

    /// The kind of the problem. Of problems of one kind in a row only the first one is an event.
    enum Kind: Hashable {
        /// A refusal with this error code.
        case refused(Text)
        case unreachable, unreadable, fruitless, store
    }

    var kind: Kind {
        switch self {
        case .refused(let error): .refused(error.text)
        case .unreachable: .unreachable
        case .unreadable: .unreadable
        case .fruitless: .fruitless
        case .store: .store
        }
    }

    /// Indicates whether a feed has to restart. Apple's reference does not say how its service
    /// refuses an expired token. Therefore a bad request whose reason names the token counts too.
    var isAboutToken: Bool {
        if reaction == .restartFeed { return true }
        guard case .refused(let error) = self, error.code == .badRequest else { return false }
        return error.reason.string.lowercased().contains("token")
    }

    /// Indicates whether no answer arrived.
    var isUnanswered: Bool {
        if case .unreachable = self { true } else { false }
    }

    /// Indicates whether no answer from the server itself arrived: no answer at all, or one from a
    /// machine between. Such a machine may be reachable before the server is.
    var isWithoutAnswer: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .refused, .fruitless, .store: false
        }
    }

    /// Indicates whether a machine between may have refused the request because of its size.
    var mayBeItsSize: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .refused, .fruitless, .store: false
        }
    }

    /// Indicates whether the server may have done the request, although it does not say so.
    var mayBeDone: Bool {
        switch self {
        case .unreachable, .unreadable: true
        case .fruitless, .store: false
        case .refused(let error): error.code == .internalError || error.code == .tryAgainLater
        }
    }

    /// The shortest wait that the server asked for. Apple's service was seen to ask for more than a
    /// day.
    package var retryAfter: Duration? {
        guard case .refused(let error) = self, let seconds = error.retryAfter else { return nil }
        return .seconds(min(max(seconds, 0), 30 * 86_400))
    }

    /// Indicates whether the server only asks for a pause: nothing is wrong, and nobody has to act.
    package var isWait: Bool {
        guard case .refused(let error) = self else { return false }
        return error.code == .throttled
    }

    /// Indicates whether all other work would meet the problem too.
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
    /// The problem with the request's identifier in the server's log, for status and errors.
    package var description: String {
        switch self {
        case .refused where isWait:
            "The server asked to wait for a moment; the rest follows by itself."
        case .refused(let error):
            "\(error.text): \(error.reason)"
                + (error.requestID.map { " (request \($0))" } ?? "")
        case .unreachable(let reason): "The server cannot be reached: \(reason)"
        case .unreadable(let reason):
            "The server's answer is not of the protocol, as when a proxy or a sign-in page of the "
                + "network answers: \(reason)"
        case .fruitless(let reason): reason
        case .store(let error): "\(error)"
        }
    }
}

extension SyncProblem {
    /// Returns the text for the log. A log does not name records that others share, because it
    /// outlives the share; reasons contain the names of records.
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
