package import Hummingbird
package import RecordModel

/// What a page has to know of its client besides the request.
package struct PageClient: Hashable, Sendable {
    /// Scheme, host and port as the client sees them; no slash at the end.
    package let baseURL: String
    /// The client's network address, for the throttle of failed sign-ins.
    package let address: String
    package let requestID: Text
    package let now: Timestamp

    package init(baseURL: String, address: String, requestID: Text, now: Timestamp) {
        self.baseURL = baseURL
        self.address = address
        self.requestID = requestID
        self.now = now
    }
}

/// The pages for people: sign-in, shares, sessions.
package struct Pages: Sendable {
    let service: RecordService
    let authenticator: Authenticator

    package init(service: RecordService, authenticator: Authenticator) {
        self.service = service
        self.authenticator = authenticator
    }
}

/// Adds `/sign-in`, `/signed-out`, `/sessions` and `/share/{shortGUID}`.
package func addPageRoutes<Context: RequestContext>(
    to router: Router<Context>, pages: Pages,
    client: @escaping @Sendable (Request, Context) -> PageClient
) {}
