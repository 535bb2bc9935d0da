import HTTPTypes
package import Hummingbird
package import Logging
package import RecordModel
package import RecordServerCore
import RecordWire

/// The facts that a page needs to know of its client besides the request.
package struct PageClient: Hashable, Sendable {
    /// The scheme, host and port as the client sees them. There is no slash at the end.
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
    let throttles: any Throttles
    let site: Site
    let metrics: ServerMetrics
    let logger: Logger

    package init(
        service: RecordService, authenticator: Authenticator, throttles: any Throttles,
        site: Site = Site(), metrics: ServerMetrics = ServerMetrics(), logger: Logger
    ) {
        self.metrics = metrics
        self.logger = logger
        self.throttles = throttles
        self.service = service
        self.authenticator = authenticator
        self.site = site
        passwords = PasswordSignIn(
            storage: service.storage, throttles: throttles,
            cost: authenticator.settings.passwordCost)
    }

    /// Returns the page, or a page for its error.
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

    /// Returns a page of this site.
    func page(
        _ title: String, status: Int = 200, formTargets: [String] = [], hasScript: Bool = false,
        hasImage: Bool = false, _ content: HTML
    ) -> PageResponse {
        .page(
            title, of: site, status: status, formTargets: formTargets, hasScript: hasScript,
            hasImage: hasImage, content)
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
        var response = page(
            "Something went wrong", status: error.code.httpStatus,
            "\(text)<p>Request <code>\(request.client.requestID)</code></p>")
        if let seconds = error.retryAfter { response.add("Retry-After", String(seconds)) }
        return response
    }
}

/// Adds `/sign-in`, `/join`, `/sign-out`, `/signed-out`, `/sessions`, `/discoverable`, `/password`,
/// `/reset`, `/invitations`, `/share/{shortGUID}`, its `/thumbnail`, and `/logo`.
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
                guard !pageRequest.isOfAnotherSite else { throw Pages.foreignForm }
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
    add("/sign-out-everywhere", .post) { (request, _) throws(ServerError) in
        try await pages.signOutEverywhere(request)
    }
    add("/join", .get) { (_, _) throws(ServerError) in pages.join() }
    add("/password", .get) { (request, _) throws(ServerError) in
        try await pages.showPassword(request)
    }
    add("/password", .post) { (request, _) throws(ServerError) in
        try await pages.changePassword(request)
    }
    add("/reset", .get) { (request, _) throws(ServerError) in
        try await pages.showReset(request)
    }
    add("/reset", .post) { (request, _) throws(ServerError) in
        try await pages.resetPassword(request)
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
    add("/invitations", .get) { (request, _) throws(ServerError) in
        try await pages.showInvitations(request)
    }
    add("/invitations", .post) { (request, _) throws(ServerError) in
        try await pages.actOnInvitation(request)
    }
    add("/share/{shortGUID}", .get) { (request, context) throws(ServerError) in
        try await pages.showShare(Text(context.parameters.get("shortGUID") ?? ""), request)
    }
    add("/share/{shortGUID}", .post) { (request, context) throws(ServerError) in
        try await pages.actOnShare(Text(context.parameters.get("shortGUID") ?? ""), request)
    }
    add("/share/{shortGUID}/thumbnail", .get) { (request, context) throws(ServerError) in
        try await pages.shareThumbnail(
            Text(context.parameters.get("shortGUID") ?? ""), request)
    }
    guard let logo = pages.site.logo else { return }
    router.get("/logo") { _, _ in
        Response(
            status: .ok, headers: HTTPFields(logo.headers),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: logo.bytes)))
    }
}

extension Response {
    init(_ page: PageResponse) {
        self.init(
            status: HTTPResponse.Status(code: page.status), headers: HTTPFields(page.headers),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.body)))
    }
}

extension HTTPFields {
    fileprivate init(_ headers: [PageResponse.Header]) {
        self.init()
        for header in headers {
            guard let name = HTTPField.Name(header.name) else { continue }
            append(HTTPField(name: name, value: header.value))
        }
    }
}
