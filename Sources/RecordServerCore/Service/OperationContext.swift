package import RecordModel
package import RecordWire

/// The caller of an operation, as the credentials of a request prove it.
package enum Caller: Hashable, Sendable {
    /// An API token alone: no particular user.
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

/// Everything that an operation knows of its request besides the body.
package struct OperationContext: Sendable {
    package let endpoint: Endpoint
    package let container: ContainerKey
    package let scope: DatabaseScope
    package let caller: Caller
    /// The session of a web auth token.
    package let session: Text?
    /// The ID of the request, for answers and logs.
    package let requestID: Text
    /// The time of the request. Bodies of transactions read no clock.
    package let now: Timestamp
    /// The scheme, host and port as the client sees them, for URLs in answers. There is no slash at
    /// the end.
    package let baseURL: String
    /// The `User-Agent` or `clientId`, cut to a maximum length. It becomes the device of write
    /// stamps.
    package let device: Text
    /// Indicates whether the query string has `getCurrentSyncToken=true`.
    package let wantsSyncToken: Bool
    package let isGet: Bool
    /// The dialect of the answer. `remapEnums=true` in the query string, in upper or lower case,
    /// asks for `iCloud`.
    package let dialect: AnswerDialect
    /// The part of the server's memory that the request holds. It is nil for requests that come
    /// from the server itself.
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

    /// Reserves `bytes` bytes for the request besides those of its body.
    ///
    /// Errors: `tryAgainLater`, or `limitExceeded` when there is no room for them.
    func hold(_ bytes: Int) throws(ServerError) { try memory?.add(bytes) }

    /// A copy of this context that holds no memory, for code whose caller holds the memory.
    var withoutMemory: OperationContext {
        var context = self
        context.memory = nil
        return context
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64 { now.nanoseconds / 1_000_000 }

    /// Returns the caller. Throws `authenticationRequired` when there is none.
    package func requireUser() throws(ServerError) -> UserRow {
        guard let user = caller.user else {
            throw ServerError(
                .authenticationRequired, "This operation needs a user: sign in first.")
        }
        return user
    }

    /// Returns the credential of the request that can end: its session, or its server-to-server
    /// key. Throws `authenticationRequired` when there is none.
    package func requireCredential() throws(ServerError) -> Text {
        if case .serverKey(_, let keyID, _) = caller { return keyID }
        guard let session else {
            throw ServerError(
                .authenticationRequired, "This operation needs a session: sign in first.")
        }
        return session
    }
}
