package import RecordModel
package import RecordWire

/// Something that happened to an account, for its owner to see.
package struct AccountEvent: Hashable, Sendable {
    /// How many of a user are kept: the oldest go first.
    package static let limit = 200
    /// How long they are kept, and an address counts as known, in milliseconds.
    package static let lifeMilliseconds: Int64 = 90 * 24 * 3600 * 1000

    /// As stored; never rename.
    package enum Kind: String, CaseIterable, Sendable {
        case signedIn = "signed in"
        case passwordChanged = "password changed"
        case passwordReset = "password reset"
        case sessionsEnded = "all sign-ins ended"
        case emailChanged = "e-mail address changed"
    }

    package let user: UserName
    package let kind: Kind
    /// Since 1970.
    package let milliseconds: Int64
    /// The network address that it came from; empty for what an operator did.
    package let address: Text
    /// The browser that it came from, and for which client, for people.
    package let agent: Text
    /// Whether neither the browser nor the address was known before.
    package let isNewPlace: Bool

    package init(
        user: UserName, kind: Kind, milliseconds: Int64, address: Text = "", agent: Text = "",
        isNewPlace: Bool = false
    ) {
        self.user = user
        self.kind = kind
        self.milliseconds = milliseconds
        self.address = address
        self.agent = agent
        self.isNewPlace = isNewPlace
    }
}

package protocol AccountEventReader {
    /// Newest first.
    func accountEvents(_ user: UserName, limit: Int) throws(ServerError) -> [AccountEvent]
    /// Whether this user has signed in from this client, an address as `IPAddress.client` counts
    /// them, after a time.
    func hasSignedIn(_ user: UserName, client: Text, after milliseconds: Int64)
        throws(ServerError) -> Bool
}

package protocol AccountEventWriter {
    /// Keeps it, and the newest of this user besides.
    func addAccountEvent(_ event: AccountEvent) throws(ServerError)
    func removeAccountEvents(before milliseconds: Int64) throws(ServerError)
}

extension AccountEventReader {
    func isKnownAddress(_ address: String, of user: UserName, at milliseconds: Int64)
        throws(ServerError) -> Bool
    {
        try hasSignedIn(
            user, client: Text(IPAddress.client(of: address)),
            after: milliseconds - AccountEvent.lifeMilliseconds)
    }
}
