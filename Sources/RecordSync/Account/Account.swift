package import RecordModel
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

    package var isSignedIn: Bool { !webAuthToken.isEmpty }

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
