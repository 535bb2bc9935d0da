package import RecordModel
package import RecordWire

/// Somebody with an account on this server, the same in every container.
package struct UserRow: Hashable, Sendable {
    package let name: UserName
    /// In lower case, unique.
    package var emailAddress: Text
    package var phoneNumber: Text?
    package var givenName: Text
    package var familyName: Text
    /// `scrypt$N$r$p$salt$hash`, salt and hash in base64.
    package var passwordHash: Text
    package var isAdministrator: Bool
    /// Every credential of a disabled user is refused at once.
    package var isDisabled: Bool
    /// Whether this user has agreed to be found by users/discover and the lookups.
    package var isDiscoverable: Bool
    /// For the private databases together, in bytes; nil for the server's default.
    package var quotaBytes: Int64?
    package var createdMilliseconds: Int64
    package init(
        name: UserName, emailAddress: Text, phoneNumber: Text? = nil, givenName: Text = "",
        familyName: Text = "", passwordHash: Text, isAdministrator: Bool = false,
        createdMilliseconds: Int64
    ) {
        self.name = name
        self.emailAddress = emailAddress
        self.phoneNumber = phoneNumber
        self.givenName = givenName
        self.familyName = familyName
        self.passwordHash = passwordHash
        self.isAdministrator = isAdministrator
        isDisabled = false
        isDiscoverable = false
        self.createdMilliseconds = createdMilliseconds
    }
}

/// A `ckAPIToken`: says which container's web client is calling, not who.
package struct APITokenRow: Hashable, Sendable {
    /// SHA-256 of the token, in hexadecimal: the token itself is shown once and not kept.
    package let hash: Text
    package let container: ContainerKey
    package var name: Text
    /// Where sign-in goes back to; nil for `window.postMessage`.
    package var callbackURL: Text?
    /// Empty for any.
    package var allowedOrigins: [Text]
    package var isRevoked: Bool
    package var createdMilliseconds: Int64
    package init(
        hash: Text, container: ContainerKey, name: Text, callbackURL: Text? = nil,
        allowedOrigins: [Text] = [], createdMilliseconds: Int64
    ) {
        self.hash = hash
        self.container = container
        self.name = name
        self.callbackURL = callbackURL
        self.allowedOrigins = allowedOrigins
        isRevoked = false
        self.createdMilliseconds = createdMilliseconds
    }
}

/// When a web auth token was first shown, by its number.
package struct TokenMark: Hashable, Sendable {
    package let generation: Int64
    package let milliseconds: Int64
    package init(generation: Int64, milliseconds: Int64) {
        self.generation = generation
        self.milliseconds = milliseconds
    }
}

/// A sign-in: the chain of web auth tokens that began with it.
package struct SessionRow: Hashable, Sendable {
    /// 128 random bits in hexadecimal.
    package let id: Text
    package let user: UserName
    package let container: ContainerKey
    /// Tokens are numbered; this is the newest one that a client has shown.
    package var generation: Int64
    /// When it was first shown: its predecessor is good for the grace time after that.
    package var generationMilliseconds: Int64
    /// Of some tokens before it, oldest first: those of the last grace time are still good.
    package var earlierMarks: [TokenMark]
    package var createdMilliseconds: Int64
    package var expiresMilliseconds: Int64
    package var isRevoked: Bool
    /// What the user sees in the list of sessions, such as the name of the client.
    package var label: Text
    package init(
        id: Text, user: UserName, container: ContainerKey, createdMilliseconds: Int64,
        expiresMilliseconds: Int64, label: Text
    ) {
        self.id = id
        self.user = user
        self.container = container
        generation = 0
        generationMilliseconds = createdMilliseconds
        earlierMarks = []
        self.createdMilliseconds = createdMilliseconds
        self.expiresMilliseconds = expiresMilliseconds
        isRevoked = false
        self.label = label
    }
}

/// The public half of a server-to-server key.
package struct ServerKeyRow: Hashable, Sendable {
    /// 64 hexadecimal digits.
    package let keyID: Text
    package let container: ContainerKey
    package let publicKeyPEM: Text
    package var name: Text
    /// As whom the key acts, in the public database.
    package let user: UserName
    package var isRevoked: Bool
    package var createdMilliseconds: Int64
    package init(
        keyID: Text, container: ContainerKey, publicKeyPEM: Text, name: Text, user: UserName,
        createdMilliseconds: Int64
    ) {
        self.keyID = keyID
        self.container = container
        self.publicKeyPEM = publicKeyPEM
        self.name = name
        self.user = user
        isRevoked = false
        self.createdMilliseconds = createdMilliseconds
    }
}

package protocol AccountReader {
    func user(_ name: UserName) throws(ServerError) -> UserRow?
    /// `emailAddress` in lower case.
    func user(emailAddress: Text) throws(ServerError) -> UserRow?
    func user(phoneNumber: Text) throws(ServerError) -> UserRow?
    /// By e-mail address.
    func users() throws(ServerError) -> [UserRow]
    func apiToken(hash: Text) throws(ServerError) -> APITokenRow?
    func apiTokens(_ container: Text) throws(ServerError) -> [APITokenRow]
    func session(_ id: Text) throws(ServerError) -> SessionRow?
    func sessions(_ user: UserName) throws(ServerError) -> [SessionRow]
    func serverKey(_ keyID: Text) throws(ServerError) -> ServerKeyRow?
    func serverKeys(_ container: Text) throws(ServerError) -> [ServerKeyRow]
}

package protocol AccountWriter {
    /// Each inserts or replaces by the key of its row.
    func putUser(_ user: UserRow) throws(ServerError)
    func putAPIToken(_ token: APITokenRow) throws(ServerError)
    func putSession(_ session: SessionRow) throws(ServerError)
    func putServerKey(_ key: ServerKeyRow) throws(ServerError)
    /// Forgets sessions that expired before `milliseconds`, with their devices.
    func removeSessions(expiredBefore milliseconds: Int64) throws(ServerError)
}
