package import RecordModel

/// The credentials of a request, as they arrived: query items and headers, percent-decoded.
package struct RequestCredentials: Hashable, Sendable {
    /// `ckAPIToken` of the query string.
    package var apiToken: Text?
    /// `ckWebAuthToken` of the query string; older clients write `ckSession`.
    package var webAuthToken: Text?
    /// The `Origin` header of a browser.
    package var origin: Text?
    /// `X-Apple-CloudKit-Request-KeyID`.
    package var keyID: Text?
    /// `X-Apple-CloudKit-Request-ISO8601Date`, byte by byte, because the signature covers it.
    package var date: Text?
    /// `X-Apple-CloudKit-Request-SignatureV1`.
    package var signature: Text?

    package init(
        apiToken: Text? = nil, webAuthToken: Text? = nil, origin: Text? = nil, keyID: Text? = nil,
        date: Text? = nil, signature: Text? = nil
    ) {
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
        self.origin = origin
        self.keyID = keyID
        self.date = date
        self.signature = signature
    }

    /// Indicates whether any header of a signed request is there.
    package var isSigned: Bool { keyID != nil || date != nil || signature != nil }
}

/// The sender of a request, once its credentials are checked.
package struct Authenticated: Hashable, Sendable {
    package let caller: Caller
    /// The session of the web auth token.
    package let session: Text?
    /// The next web auth token, for the header `X-Apple-CloudKit-Web-Auth-Token` of the answer,
    /// also when the operation fails.
    package let successorToken: Text?
    /// Indicates whether the token that was shown is so old that a client should take the next one.
    package var isSuccessorDue = true
    /// The URL where a person can sign in: the `redirectURL` of an `AUTHENTICATION_REQUIRED` that
    /// an operation answers. It is nil for a signed request.
    package let signInURL: String?

    package init(
        caller: Caller, session: Text? = nil, successorToken: Text? = nil, signInURL: String? = nil
    ) {
        self.caller = caller
        self.session = session
        self.successorToken = successorToken
        self.signInURL = signInURL
    }
}
