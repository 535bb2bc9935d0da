package import RecordModel
package import RecordWire

/// A person with an account on this server. The account is the same in every container.
package struct UserRow: Hashable, Sendable {
    package let name: UserName
    /// The e-mail address in lower case. It is unique.
    package var emailAddress: Text
    package var phoneNumber: Text?
    package var givenName: Text
    package var familyName: Text
    /// The hash as `scrypt$N$r$p$salt$hash`, with salt and hash in base64.
    package var passwordHash: Text
    package var isAdministrator: Bool
    /// Indicates whether the account is disabled. The server then refuses every credential of the
    /// user at once.
    package var isDisabled: Bool
    /// Indicates whether this user has agreed to be found by users/discover and the lookups.
    package var isDiscoverable: Bool
    /// The quota for the private databases together, in bytes. Nil stands for the server's default.
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

/// A `ckAPIToken`. It names the container whose web client calls, but no user.
package struct APITokenRow: Hashable, Sendable {
    /// The SHA-256 of the token, in hexadecimal. The token itself is shown once and not kept.
    package let hash: Text
    package let container: ContainerKey
    package var name: Text
    /// The URL that sign-in returns to. Nil stands for `window.postMessage`.
    package var callbackURL: Text?
    /// The origins that may use the token. Empty stands for any origin.
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

/// The time at which a web auth token was first shown, with the number of the token.
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
    /// The number of the newest token that a client has shown. Tokens are numbered.
    package var generation: Int64
    /// The time at which that token was first shown. Its predecessor is valid for the grace time
    /// after that.
    package var generationMilliseconds: Int64
    /// The marks of some tokens before it, oldest first. The tokens of the last grace time are
    /// still valid.
    package var earlierMarks: [TokenMark]
    package var createdMilliseconds: Int64
    package var expiresMilliseconds: Int64
    package var isRevoked: Bool
    /// The text that the user sees in the list of sessions, such as the name of the client.
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
    /// The ID of the key, 64 hexadecimal digits.
    package let keyID: Text
    package let container: ContainerKey
    package let publicKeyPEM: Text
    package var name: Text
    /// The user that the key acts as, in the public database.
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
    /// Returns the user with this address. `emailAddress` is in lower case.
    func user(emailAddress: Text) throws(ServerError) -> UserRow?
    func user(phoneNumber: Text) throws(ServerError) -> UserRow?
    /// Returns all users, in the order of their e-mail addresses.
    func users() throws(ServerError) -> [UserRow]
    func apiToken(hash: Text) throws(ServerError) -> APITokenRow?
    func apiTokens(_ container: Text) throws(ServerError) -> [APITokenRow]
    func session(_ id: Text) throws(ServerError) -> SessionRow?
    func sessions(_ user: UserName) throws(ServerError) -> [SessionRow]
    func serverKey(_ keyID: Text) throws(ServerError) -> ServerKeyRow?
    func serverKeys(_ container: Text) throws(ServerError) -> [ServerKeyRow]
}

package protocol AccountWriter {
    /// Inserts or replaces a row by its key, as the next three functions do.
    func putUser(_ user: UserRow) throws(ServerError)
    func putAPIToken(_ token: APITokenRow) throws(ServerError)
    func putSession(_ session: SessionRow) throws(ServerError)
    func putServerKey(_ key: ServerKeyRow) throws(ServerError)
    /// Removes sessions that expired before `milliseconds`, with their devices.
    func removeSessions(expiredBefore milliseconds: Int64) throws(ServerError)
}
