/// The settings of sign-in and its tokens that an operator can change. All times are in seconds.
package struct AccountSettings: Hashable, Sendable {
    /// The time for which an unused web auth token is valid. Each answer carries a new one.
    package var sessionSeconds: Int64 = 30 * 60
    /// The time for which such a token is valid for a person who chose to stay signed in.
    package var longSessionSeconds: Int64 = 14 * 24 * 3600
    /// The time after which a person signs in again, however often the tokens were used.
    package var maximumSessionSeconds: Int64 = 90 * 24 * 3600
    /// The time for which a web auth token is still valid after its successor was first shown. With
    /// 0, every token is valid for one request only.
    package var graceSeconds: Int64 = 120
    /// The greatest difference between the date of a signed request and now, in either direction.
    package var signedRequestSeconds: Int64 = 600
    /// The time for which the address of a sign-in page is valid.
    package var signInSeconds: Int64 = 3600
    /// The cost of new hashes of passwords.
    package var passwordCost = Password.Cost.standard

    package init() {}
}
