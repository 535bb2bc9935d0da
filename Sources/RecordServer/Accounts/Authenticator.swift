package import RecordModel
package import RecordWire

/// Checks the credentials of requests (reference §2).
///
/// Everything that can be revoked is read from the storage for each request, so that a revocation
/// counts from the next request on, also when another process made it.
package final class Authenticator: Sendable {
    let storage: any Storage
    let seal: Seal
    let settings: AccountSettings

    package init(storage: any Storage, seal: Seal, settings: AccountSettings) {
        self.storage = storage
        self.seal = seal
        self.settings = settings
    }

    /// Who sent this request. `path` and `pathAndQuery` are those of the request line, not decoded.
    /// `baseURL` is scheme, host and port as the client sees them.
    ///
    /// Errors: `authenticationFailed` for a missing or wrong API token and for every mistake in a
    /// signed request; `authenticationRequired`, with `redirectURL`, for a web auth token that is
    /// not good (any more).
    package func authenticate(
        _ credentials: RequestCredentials, container: ContainerKey, path: String,
        pathAndQuery: String, body: [UInt8], baseURL: String, now: Timestamp
    ) async throws(ServerError) -> Authenticated {
        throw ServerError(.internalError, "")
    }

    /// Makes a session of this user and gives its first web auth token.
    package func signIn(
        _ user: UserName, container: ContainerKey, staySignedIn: Bool, label: Text, now: Timestamp
    ) async throws(ServerError) -> Text {
        throw ServerError(.internalError, "")
    }

    /// Writes down what is only in memory of the use of tokens. To be called at a graceful stop.
    package func flush() async throws(ServerError) {}
}
