package import RecordWire

/// The engine's reaction to an error of the server: each code has one.
///
/// Sources: Apple's table "Error Codes" of CloudKit Web Services and the causes listed there; for
/// codes of RecordFS, `ServerErrorCode`.
package enum Reaction: Hashable, Sendable {
    /// Do the same again after a while; the server may say how long.
    case retry
    /// The server has another state of the record: merge it with the local state, and send the
    /// result.
    case merge
    /// The server no longer has the record. An edit makes it again; a deletion is done.
    case remake
    /// Something else in the request was refused. Send this change again without it.
    case sendAgain
    /// The server does not have the zone: make it, or note that it was removed.
    case findZone
    /// Restart the feed.
    case restartFeed
    /// Send in halves; park a change that is refused alone.
    case split
    /// Nothing works before somebody signs in.
    case signIn
    /// Keep the change, show it with its reason, and send it again after an edit or by
    /// `recordfs retry`.
    case park

    package init(_ code: ServerErrorCode) {
        switch code {
        case .tryAgainLater, .throttled, .internalError, .quotaExceeded: self = .retry
        case .conflict, .exists: self = .merge
        case .notFound: self = .remake
        case .atomicError: self = .sendAgain
        case .zoneNotFound: self = .findZone
        case .changeTokenExpired: self = .restartFeed
        case .limitExceeded: self = .split
        case .authenticationFailed, .authenticationRequired: self = .signIn
        case .accessDenied, .badRequest, .validatingReferenceError, .uniqueFieldError,
            .alreadyShared, .tooManyParticipants:
            self = .park
        }
    }

    /// The reaction to an error. For an unknown code only the refusal of the request is known.
    package init(_ error: WireError) {
        self = error.code.map(Reaction.init(_:)) ?? .park
    }
}
