import HTTPTypes
package import Hummingbird
package import RecordModel
import RecordWire

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

/// The pages for people: sign-in, shares, sessions. Plain HTML that needs no script.
package struct Pages: Sendable {
    let service: RecordService
    let authenticator: Authenticator
    let passwords: PasswordSignIn

    package init(service: RecordService, authenticator: Authenticator) {
        self.service = service
        self.authenticator = authenticator
        passwords = PasswordSignIn(
            storage: service.storage, cost: authenticator.settings.passwordCost)
    }

    /// Errors become pages too.
    func answer(
        _ request: PageRequest,
        _ page: (PageRequest) async throws(ServerError) -> PageResponse
    ) async -> PageResponse {
        do throws(ServerError) {
            return try await page(request)
        } catch {
            return errorPage(error, request)
        }
    }

    func errorPage(_ error: ServerError, _ request: PageRequest) -> PageResponse {
        let text: HTML
        switch error.code {
        case .internalError:
            text = "<p>The server could not do this. It is not your fault.</p>"
        case .throttled, .tryAgainLater:
            text = "<p>\(error.reason) Please try again later.</p>"
        default: text = "<p>\(error.reason)</p>"
        }
        var response = PageResponse.page(
            "Something went wrong", status: error.code.httpStatus,
            "\(text)<p>Request <code>\(request.client.requestID)</code></p>")
        if let seconds = error.retryAfter { response.add("Retry-After", String(seconds)) }
        return response
    }
}

/// Adds `/sign-in`, `/sign-out`, `/signed-out`, `/sessions`, `/discoverable` and
/// `/share/{shortGUID}`.
package func addPageRoutes<Context: RequestContext>(
    to router: Router<Context>, pages: Pages,
    client: @escaping @Sendable (Request, Context) -> PageClient
) {
    func add(
        _ path: RouterPath, _ method: HTTPRequest.Method,
        _ page: @escaping @Sendable (PageRequest, Context) async throws(ServerError) -> PageResponse
    ) {
        router.on(path, method: method) { request, context in
            let client = client(request, context)
            do {
                let pageRequest = try await PageRequest(request, client: client)
                return Response(
                    await pages.answer(pageRequest) { (request) throws(ServerError) in
                        try await page(request, context)
                    })
            } catch let error as ServerError {
                return Response(pages.errorPage(error, PageRequest(client: client)))
            }
        }
    }
    add("/sign-in", .get) { (request, _) throws(ServerError) in
        try await pages.showSignIn(request)
    }
    add("/sign-in", .post) { (request, _) throws(ServerError) in
        try await pages.signIn(request)
    }
    add("/sign-out", .post) { (request, _) throws(ServerError) in
        try await pages.signOut(request)
    }
    add("/signed-out", .get) { (request, _) throws(ServerError) in pages.signedOut(request) }
    add("/sessions", .get) { (request, _) throws(ServerError) in
        try await pages.showSessions(request)
    }
    add("/sessions", .post) { (request, _) throws(ServerError) in
        try await pages.revokeSession(request)
    }
    add("/discoverable", .post) { (request, _) throws(ServerError) in
        try await pages.setDiscoverable(request)
    }
    add("/share/{shortGUID}", .get) { (request, context) throws(ServerError) in
        try await pages.showShare(Text(context.parameters.get("shortGUID") ?? ""), request)
    }
    add("/share/{shortGUID}", .post) { (request, context) throws(ServerError) in
        try await pages.acceptShare(Text(context.parameters.get("shortGUID") ?? ""), request)
    }
}

extension Response {
    init(_ page: PageResponse) {
        var headers = HTTPFields()
        for header in page.headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            headers.append(HTTPField(name: name, value: header.value))
        }
        self.init(
            status: HTTPResponse.Status(code: page.status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: page.body)))
    }
}
