package import RecordModel
package import RecordWire

/// Who calls, as the credentials of a request prove it.
package enum Caller: Hashable, Sendable {
    /// An API token alone: nobody in particular.
    case anonymous
    /// A web auth token.
    case user(UserRow)
    /// A server-to-server key, which acts as its user in the public database only.
    case serverKey(UserRow, keyID: Text, managesSchema: Bool = false)

    package var user: UserRow? {
        switch self {
        case .anonymous: nil
        case .user(let user), .serverKey(let user, _, _): user
        }
    }
}

/// What every operation of a request knows besides its body.
package struct OperationContext: Sendable {
    package let endpoint: Endpoint
    package let container: ContainerKey
    package let scope: DatabaseScope
    package let caller: Caller
    /// The session of a web auth token.
    package let session: Text?
    /// In answers and logs.
    package let requestID: Text
    /// The time of the request: bodies of transactions read no clock.
    package let now: Timestamp
    /// Scheme, host and port as the client sees them, for URLs in answers; no slash at the end.
    package let baseURL: String
    /// `User-Agent` or `clientId`, cut; becomes the device of write stamps.
    package let device: Text
    /// `getCurrentSyncToken=true` of the query string.
    package let wantsSyncToken: Bool
    package let isGet: Bool
    /// `remapEnums=true` of the query string, in any case, asks for `iCloud`.
    package let dialect: AnswerDialect
    /// What the request holds of the server's memory; nil for those that come from itself.
    package var memory: MemoryHold?

    package init(
        endpoint: Endpoint, container: ContainerKey, scope: DatabaseScope, caller: Caller,
        session: Text? = nil, requestID: Text, now: Timestamp, baseURL: String, device: Text = "",
        wantsSyncToken: Bool = false, isGet: Bool = false, dialect: AnswerDialect = .webServices
    ) {
        self.endpoint = endpoint
        self.container = container
        self.scope = scope
        self.caller = caller
        self.session = session
        self.requestID = requestID
        self.now = now
        self.baseURL = baseURL
        self.device = device
        self.wantsSyncToken = wantsSyncToken
        self.isGet = isGet
        self.dialect = dialect
    }

    /// The request now holds so many bytes besides those of its body.
    ///
    /// Errors: `tryAgainLater`, `limitExceeded` when there is no room for them.
    func hold(_ bytes: Int) throws(ServerError) { try memory?.add(bytes) }

    /// The same where the memory is held by who asks.
    var withoutMemory: OperationContext {
        var context = self
        context.memory = nil
        return context
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64 { now.nanoseconds / 1_000_000 }

    /// The caller, or `authenticationRequired` where there is none.
    package func requireUser() throws(ServerError) -> UserRow {
        guard let user = caller.user else {
            throw ServerError(
                .authenticationRequired, "This operation needs a user: sign in first.")
        }
        return user
    }

    /// What the request proved itself by and what can end: its session, or its server-to-server
    /// key; `authenticationRequired` where there is none.
    package func requireCredential() throws(ServerError) -> Text {
        if case .serverKey(_, let keyID, _) = caller { return keyID }
        guard let session else {
            throw ServerError(
                .authenticationRequired, "This operation needs a session: sign in first.")
        }
        return session
    }
}
