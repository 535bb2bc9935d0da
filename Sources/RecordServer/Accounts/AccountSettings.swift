/// What an operator can set of sign-in and its tokens. All times are in seconds.
package struct AccountSettings: Hashable, Sendable {
    /// How long a web auth token is good that nobody uses; each answer carries a new one.
    package var sessionSeconds: Int64 = 30 * 60
    /// The same for a person who chose to stay signed in.
    package var longSessionSeconds: Int64 = 14 * 24 * 3600
    /// After this a person signs in again, however often the tokens were used.
    package var maximumSessionSeconds: Int64 = 90 * 24 * 3600
    /// How long a web auth token is still good after its successor was first shown. With 0 every
    /// token is good for one request only.
    package var graceSeconds: Int64 = 120
    /// How far the date of a signed request may be from now, either way.
    package var signedRequestSeconds: Int64 = 600
    /// How long the address of a sign-in page is good.
    package var signInSeconds: Int64 = 3600
    /// Of new hashes of passwords.
    package var passwordCost = Password.Cost.standard

    package init() {}
}
