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
    /// The sync token is of another time, zone or server: drop the cache and fetch from nothing.
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

/// What went wrong with a request or with one item of it, as the wire says it.
package struct ServerError: Error, Sendable, Hashable {
    package let code: ServerErrorCode
    /// One sentence for a developer: what is wrong, where in the request, and what to do. Never a
    /// secret, never the content of a record.
    package let reason: String
    /// In seconds; nil when the same request cannot succeed later.
    package var retryAfter: Int?
    /// Where a person can sign in, for `authenticationRequired`.
    package var redirectURL: String?
    /// The record as the server has it, for `conflict` (an extension).
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

/// JSON text that is already printed, to be copied into an answer as it is.
package struct JSONBytes: Hashable, Sendable {
    package let bytes: [UInt8]
    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}
