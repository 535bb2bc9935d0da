package import RecordModel
package import RecordWire

/// Checks the credentials of requests (Protocol, "Credentials").
///
/// Everything that can be revoked is read from the storage for each request, so that a revocation
/// counts from the next request on, also when another process made it.
package final class Authenticator: Sendable {
    let storage: any Storage
    package let seal: Seal
    package let settings: AccountSettings
    private let uses: SessionUses
    /// The age of its token at which a client that wants few bytes gets the next one.
    private static let successorMilliseconds: Int64 = 3_600_000

    package init(storage: any Storage, seal: Seal, settings: AccountSettings) {
        self.storage = storage
        self.seal = seal
        self.settings = settings
        uses = SessionUses(storage: storage, graceSeconds: settings.graceSeconds)
    }

    /// Returns the sender of this request. `path` and `pathAndQuery` are those of the request line,
    /// not decoded. `baseURL` is scheme, host and port as the client sees them.
    ///
    /// Errors: `authenticationFailed` for a missing or wrong API token and for every mistake in a
    /// signed request; `authenticationRequired`, with `redirectURL`, for a web auth token that is
    /// not valid (any more).
    package func authenticate(
        _ credentials: RequestCredentials, container: ContainerKey, path: String,
        pathAndQuery: String, body: [UInt8], baseURL: String, now: Timestamp
    ) async throws(ServerError) -> Authenticated {
        let milliseconds = now.nanoseconds / 1_000_000
        if credentials.isSigned {
            let request = SignedRequest(
                credentials: credentials, paths: [path, pathAndQuery], body: body)
            return Authenticated(
                caller: try await verify(request, container: container, at: milliseconds))
        }
        let token = credentials.webAuthToken.flatMap { WebAuthToken($0, seal: seal) }
        let rows = try await rows(apiToken: credentials.apiToken, token: token)
        let apiToken = try check(rows.apiToken, credentials.origin, container: container)
        let signInURL = SignInRequest(
            apiTokenHash: apiToken.hash, container: container, origin: credentials.origin,
            expiresMilliseconds: milliseconds + settings.signInSeconds * 1000
        ).url(baseURL: baseURL, seal: seal)
        guard credentials.webAuthToken != nil else {
            return Authenticated(caller: .anonymous, signInURL: signInURL)
        }
        guard let token, !token.isExpired(at: milliseconds),
            let session = rows.session, session.isGood(for: container, at: milliseconds),
            let user = rows.user, !user.isDisabled,
            try await accept(token, of: session, at: milliseconds)
        else {
            throw ServerError(
                .authenticationRequired, "The web auth token is not good: sign in again.",
                redirectURL: signInURL)
        }
        var authenticated = Authenticated(
            caller: .user(user), session: session.id,
            successorToken: token.successor(at: milliseconds).sealed(by: seal),
            signInURL: signInURL)
        // Without a grace time, each token is valid once.
        authenticated.isSuccessorDue =
            settings.graceSeconds <= 0
            || milliseconds - token.issuedMilliseconds > Self.successorMilliseconds
        return authenticated
    }

    /// Makes a session of this user and returns its first web auth token.
    ///
    /// - Parameter isDevice: the session lasts until somebody ends it.
    package func signIn(
        _ user: UserName, container: ContainerKey, staySignedIn: Bool, isDevice: Bool = false,
        label: Text, now: Timestamp
    ) async throws(ServerError) -> Text {
        let milliseconds = now.nanoseconds / 1_000_000
        let session = SessionRow(
            id: Text(SecureRandom.hex128()), user: user, container: container,
            createdMilliseconds: milliseconds,
            expiresMilliseconds: isDevice
                ? milliseconds + SessionRow.deviceSeconds * 1000
                : milliseconds + settings.maximumSessionSeconds * 1000, label: label)
        let record = UsersRecord(user: user, container: container, milliseconds: milliseconds)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSession(session)
            try record.put(transaction)
        }
        return WebAuthToken(
            session: session.id, generation: 1, issuedMilliseconds: milliseconds,
            lifeSeconds: isDevice
                ? SessionRow.deviceSeconds
                : staySignedIn ? settings.longSessionSeconds : settings.sessionSeconds
        ).sealed(by: seal)
    }

    /// Stores the uses of tokens that are only in memory. Call it at a graceful stop.
    package func flush(now: Timestamp) async throws(ServerError) {
        try await uses.flush(at: now.nanoseconds / 1_000_000)
    }

    private struct Rows: Sendable {
        let apiToken: APITokenRow?
        let session: SessionRow?
        let user: UserRow?
    }

    private func rows(apiToken: Text?, token: WebAuthToken?) async throws(ServerError) -> Rows {
        guard let apiToken, Secret.isWellFormed(apiToken) else {
            return Rows(apiToken: nil, session: nil, user: nil)
        }
        let hash = Secret.hash(apiToken)
        return try await storage.read { (reader) throws(ServerError) in
            let session = try token.flatMap { (token) throws(ServerError) in
                try reader.session(token.session)
            }
            return Rows(
                apiToken: try reader.apiToken(hash: hash), session: session,
                user: try session.flatMap { (session) throws(ServerError) in
                    try reader.user(session.user)
                })
        }
    }

    private func check(_ row: APITokenRow?, _ origin: Text?, container: ContainerKey)
        throws(ServerError) -> APITokenRow
    {
        guard let row, !row.isRevoked, row.container == container else {
            throw ServerError(
                .authenticationFailed,
                "ckAPIToken is missing, or is no API token of this container and environment.")
        }
        guard row.allows(origin: origin) else {
            throw ServerError(
                .authenticationFailed, "This API token may not be used from this origin.")
        }
        return row
    }

    /// Notes the use of the token, and returns whether it may still be used.
    private func accept(_ token: WebAuthToken, of session: SessionRow, at milliseconds: Int64)
        async throws(ServerError) -> Bool
    {
        guard settings.graceSeconds <= 0 else {
            return uses.accept(token.generation, of: session, at: milliseconds)
        }
        return try await storage.write { (transaction) throws(ServerError) in
            guard var row = try transaction.session(session.id), !row.isRevoked,
                token.generation > row.generation
            else { return false }
            row.generation = token.generation
            row.generationMilliseconds = milliseconds
            try transaction.putSession(row)
            return true
        }
    }
}

extension SessionRow {
    /// The lifetime of a device's session, a hundred years: until somebody ends it.
    static let deviceSeconds: Int64 = 100 * 365 * 86_400

    /// Indicates whether the session lasts until somebody ends it.
    package var isOfDevice: Bool {
        expiresMilliseconds - createdMilliseconds >= Self.deviceSeconds * 1000
    }

    package func isGood(for container: ContainerKey, at milliseconds: Int64) -> Bool {
        !isRevoked && self.container == container && milliseconds <= expiresMilliseconds
    }
}

extension APITokenRow {
    /// Returns whether the token may be used from this origin. Programs send no origin. The origin
    /// of a browser must be in the list, if there is one.
    package func allows(origin: Text?) -> Bool {
        guard let origin, !allowedOrigins.isEmpty else { return true }
        return allowedOrigins.contains(origin)
    }
}
