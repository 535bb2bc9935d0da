package import RecordModel
package import RecordStore
package import RecordWire

/// The server, the container and the user that a store is synced with.
package struct Account: Hashable, Sendable {
    /// The server's address without a slash at its end: `https://records.example.org`.
    package var server: String
    /// `iCloud.org.example.app`.
    package var container: Text
    package var environment: ServerEnvironment
    package var apiToken: Text
    /// The newest token: each answer may bring the next one. Empty after a sign-out.
    package var webAuthToken: Text
    /// The user's record name.
    package var user: UserName
    package var profile: ServerProfile

    /// The time when the server last said that it no longer accepts the sign-in, in milliseconds
    /// since 1970. Nil while the server accepts it.
    package var refusedMilliseconds: Int64?

    package var isSignedIn: Bool { !webAuthToken.isEmpty }

    /// The user that a store of the account belongs to.
    package var owner: StoreOwner {
        StoreOwner(
            server: server, container: container.string, environment: environment.rawValue,
            user: user.description, profile: profile.rawValue)
    }

    package init(
        server: String, container: Text, environment: ServerEnvironment, apiToken: Text,
        webAuthToken: Text, user: UserName, profile: ServerProfile = .recordfs
    ) {
        self.server = server
        self.container = container
        self.environment = environment
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
        self.user = user
        self.profile = profile
    }
}
