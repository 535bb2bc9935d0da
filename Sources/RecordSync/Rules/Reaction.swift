package import RecordWire

/// What the engine does about an error that the server tells: each code has one.
///
/// Sources: Apple's table "Error Codes" of CloudKit Web Services and the causes listed there; for
/// codes of RecordFS, `ServerErrorCode`.
package enum Reaction: Hashable, Sendable {
    /// The same again after a while; the server may say how long.
    case retry
    /// The record is different there: it is merged with what the server has, and sent again.
    case merge
    /// The record is not there any more. An edit makes it anew, a deletion is done.
    case remake
    /// Something else of the request was refused, and it is sent again without that.
    case sendAgain
    /// The zone is not there: it is made, or was removed.
    case findZone
    /// The feed begins anew.
    case restartFeed
    /// Sent in halves; what is refused alone is parked.
    case split
    /// Nothing works until somebody has signed in.
    case signIn
    /// Kept, shown with its reason, and sent again after an edit or by `recordfs retry`.
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

    /// Of a code that nobody here knows, nothing is known but that the request was refused.
    package init(_ error: WireError) {
        self = error.code.map(Reaction.init(_:)) ?? .park
    }
}
