package import RecordModel
package import RecordStore
package import RecordWire

/// Where a store is kept in step with, and as whom.
package struct Account: Hashable, Sendable {
    /// The server's address without a slash at its end: `https://records.example.org`.
    package var server: String
    /// `iCloud.org.example.app`.
    package var container: Text
    package var environment: ServerEnvironment
    package var apiToken: Text
    /// The newest one: each answer may bring the next. Empty of one that has signed out.
    package var webAuthToken: Text
    /// The user's record name.
    package var user: UserName
    package var profile: ServerProfile

    /// When the server said last that it does not accept the sign-in any more, in milliseconds since
    /// 1970; nil while it does.
    package var refusedMilliseconds: Int64?

    package var isSignedIn: Bool { !webAuthToken.isEmpty }

    /// To whom a store of the account belongs.
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
