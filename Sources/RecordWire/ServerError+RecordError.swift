package import RecordModel

extension ServerError {
    /// Creates the error for a client from an error of a lower layer. Its message is passed on only
    /// when it is about the client's own text.
    package init(_ error: RecordError) {
        let code = ServerErrorCode(error.code)
        switch error.code {
        case .invalidJSON:
            self.init(code, "The body is not JSON: \(Self.cut(error.description))")
        case .invalidRecord, .schemaMismatch, .tooLarge, .refusedRename, .invalidName,
            .nameTooLong, .invalidArgument, .rangeTooSmall:
            self.init(code, Self.cut(error.message))
        default: self.init(code, Self.words(code), retryAfter: Self.retryAfter(code))
        }
    }

    /// Messages can quote a key of the text, which can be long.
    static func cut(_ message: String) -> String {
        message.utf8.count <= 400 ? message : message.prefix(300) + " ..."
    }

    private static func words(_ code: ServerErrorCode) -> String {
        switch code {
        case .notFound: "There is no such thing."
        case .exists: "There is one already."
        case .accessDenied: "This is not allowed."
        case .quotaExceeded: "The storage is full."
        case .tryAgainLater: "The server cannot answer now; try again."
        default: "The server failed; its log has the request's uuid."
        }
    }

    private static func retryAfter(_ code: ServerErrorCode) -> Int? {
        code == .tryAgainLater ? 5 : nil
    }
}

extension ServerErrorCode {
    init(_ code: RecordError.Code) {
        switch code {
        case .invalidJSON, .invalidRecord, .schemaMismatch, .refusedRename, .invalidName,
            .nameTooLong, .invalidArgument, .rangeTooSmall, .unsupported:
            self = .badRequest
        case .tooLarge: self = .limitExceeded
        case .notFound, .noSuchAttribute, .stale: self = .notFound
        case .alreadyExists: self = .exists
        case .notPermitted, .accessDenied, .readOnly: self = .accessDenied
        case .quotaExceeded: self = .quotaExceeded
        case .storeLocked, .interrupted, .timedOut, .unavailable, .tooManyOpenFiles, .noSpace:
            self = .tryAgainLater
        case .notEmpty, .isDirectory, .notDirectory, .crossDevice, .storeTooNew, .corrupt,
            .ioFailure, .system:
            self = .internalError
        }
    }
}
