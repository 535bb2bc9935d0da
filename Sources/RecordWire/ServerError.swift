/// The codes of `serverErrorCode`: Apple's table and those that RecordFS adds.
///
/// Source: CloudKit Web Services Reference, "Error Codes". Clients of that protocol treat an
/// unknown code as a permanent error, so that the added ones are safe for them.
package enum ServerErrorCode: String, CaseIterable, Sendable {
    case accessDenied = "ACCESS_DENIED"
    case atomicError = "ATOMIC_ERROR"
    case authenticationFailed = "AUTHENTICATION_FAILED"
    case authenticationRequired = "AUTHENTICATION_REQUIRED"
    case badRequest = "BAD_REQUEST"
    case conflict = "CONFLICT"
    case exists = "EXISTS"
    case internalError = "INTERNAL_ERROR"
    case notFound = "NOT_FOUND"
    case quotaExceeded = "QUOTA_EXCEEDED"
    case throttled = "THROTTLED"
    case tryAgainLater = "TRY_AGAIN_LATER"
    case validatingReferenceError = "VALIDATING_REFERENCE_ERROR"
    case zoneNotFound = "ZONE_NOT_FOUND"
    case uniqueFieldError = "UNIQUE_FIELD_ERROR"
    // Added by RecordFS.
    /// The sync token belongs to another time, zone or server: drop the cache and fetch from the
    /// beginning.
    case changeTokenExpired = "CHANGE_TOKEN_EXPIRED"
    case limitExceeded = "LIMIT_EXCEEDED"
    case alreadyShared = "ALREADY_SHARED"
    case tooManyParticipants = "TOO_MANY_PARTICIPANTS"

    package var httpStatus: Int {
        switch self {
        case .accessDenied: 403
        case .atomicError, .badRequest, .changeTokenExpired, .alreadyShared,
            .tooManyParticipants, .uniqueFieldError:
            400
        case .authenticationFailed: 401
        case .authenticationRequired: 421
        case .conflict, .exists: 409
        case .internalError: 500
        case .notFound, .zoneNotFound: 404
        case .quotaExceeded, .limitExceeded: 413
        case .throttled: 429
        case .tryAgainLater: 503
        case .validatingReferenceError: 412
        }
    }
}

/// The error of a request or of one item of it, in the form of the wire.
package struct ServerError: Error, Sendable, Hashable {
    package let code: ServerErrorCode
    /// One sentence for a developer: the problem, the place in the request, and the remedy. It
    /// never holds a secret or the content of a record.
    package let reason: String
    /// The time in seconds after which the client may try again. It is nil when the same request
    /// cannot succeed later.
    package var retryAfter: Int?
    /// The address where a person can sign in, for `authenticationRequired`.
    package var redirectURL: String?
    /// The record of the server, for `conflict` (an extension).
    package var serverRecord: JSONBytes?

    package init(
        _ code: ServerErrorCode, _ reason: String, retryAfter: Int? = nil,
        redirectURL: String? = nil, serverRecord: JSONBytes? = nil
    ) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.redirectURL = redirectURL
        self.serverRecord = serverRecord
    }
}

/// JSON text that is already printed, to be copied into an answer unchanged.
package struct JSONBytes: Hashable, Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}
