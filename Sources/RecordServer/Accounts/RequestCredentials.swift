package import RecordModel

/// What a request says of who sent it, as it came: query items and headers, percent-decoded.
package struct RequestCredentials: Hashable, Sendable {
    /// `ckAPIToken` of the query string.
    package var apiToken: Text?
    /// `ckWebAuthToken` of the query string; older clients write `ckSession`.
    package var webAuthToken: Text?
    /// The `Origin` header of a browser.
    package var origin: Text?
    /// `X-Apple-CloudKit-Request-KeyID`.
    package var keyID: Text?
    /// `X-Apple-CloudKit-Request-ISO8601Date`, byte by byte: it is part of what is signed.
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

    /// Whether any header of a signed request is there.
    var isSigned: Bool { keyID != nil || date != nil || signature != nil }
}

/// Who a request comes from, once its credentials are checked.
package struct Authenticated: Hashable, Sendable {
    package let caller: Caller
    /// The session of the web auth token.
    package let session: Text?
    /// The next web auth token, for the header `X-Apple-CloudKit-Web-Auth-Token` of the answer,
    /// also when the operation fails.
    package let successorToken: Text?
    /// Whether the token that was shown is so old that a client should take the next one.
    package var isSuccessorDue = true
    /// Where a person can sign in: the `redirectURL` of an `AUTHENTICATION_REQUIRED` that an
    /// operation answers. Nil for a signed request.
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
