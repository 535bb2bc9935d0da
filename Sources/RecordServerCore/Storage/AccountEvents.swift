package import RecordModel
package import RecordWire

/// An event of an account, for its owner to see.
package struct AccountEvent: Hashable, Sendable {
    /// The most events of a user that are kept. The oldest are removed first.
    package static let limit = 200
    /// The time for which events are kept, and for which an address counts as known, in
    /// milliseconds.
    package static let lifeMilliseconds: Int64 = 90 * 24 * 3600 * 1000

    /// The kind of an event, as stored; never rename.
    package enum Kind: String, CaseIterable, Sendable {
        case signedIn = "signed in"
        case passwordChanged = "password changed"
        case passwordReset = "password reset"
        case sessionsEnded = "all sign-ins ended"
        case emailChanged = "e-mail address changed"
    }

    package let user: UserName
    package let kind: Kind
    /// The time of the event, in milliseconds since 1970.
    package let milliseconds: Int64
    /// The network address that the request came from. It is empty for an action of an operator.
    package let address: Text
    /// The browser that the request came from, and the client that it was for, as text for people.
    package let agent: Text
    /// Indicates whether neither the browser nor the address was known before.
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
    /// Returns the events of a user, the newest first.
    func accountEvents(_ user: UserName, limit: Int) throws(ServerError) -> [AccountEvent]
    /// Returns whether this user has signed in from this client after a time. A client is an
    /// address as `IPAddress.client` counts them.
    func hasSignedIn(_ user: UserName, client: Text, after milliseconds: Int64)
        throws(ServerError) -> Bool
}

package protocol AccountEventWriter {
    /// Stores the event and removes the oldest events of this user beyond the limit.
    func addAccountEvent(_ event: AccountEvent) throws(ServerError)
    func removeAccountEvents(before milliseconds: Int64) throws(ServerError)
}

extension AccountEventReader {
    package func isKnownAddress(_ address: String, of user: UserName, at milliseconds: Int64)
        throws(ServerError) -> Bool
    {
        try hasSignedIn(
            user, client: Text(IPAddress.client(of: address)),
            after: milliseconds - AccountEvent.lifeMilliseconds)
    }
}
