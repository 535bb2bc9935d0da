import HTTPTypes
package import HummingbirdCore
import NIOCore
import RecordModel
import RecordWire

/// Adds `/sign-in`, `/join`, `/sign-out`, `/signed-out`, `/sessions`, `/discoverable`, `/password`,
/// `/reset`, `/invitations`, `/share/{shortGUID}`, its `/thumbnail`, and `/logo`.
package func addPageRoutes(
    to routes: inout RouteTable, pages: Pages,
    client: @escaping @Sendable (HTTPContext) -> PageClient
) {
    func add(
        _ path: String, _ method: HTTPRequest.Method,
        _ page:
            @escaping @Sendable (PageRequest, HTTPContext) async throws(ServerError) -> PageResponse
    ) {
        routes.on(path, method) { request, context in
            let client = client(context)
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
        try await SignInPage(pages: pages).showSignIn(request)
    }
    add("/sign-in", .post) { (request, _) throws(ServerError) in
        try await SignInPage(pages: pages).signIn(request)
    }
    add("/sign-out", .post) { (request, _) throws(ServerError) in
        try await SessionsPage(pages: pages).signOut(request)
    }
    add("/sign-out-everywhere", .post) { (request, _) throws(ServerError) in
        try await SessionsPage(pages: pages).signOutEverywhere(request)
    }
    add("/join", .get) { (_, _) throws(ServerError) in JoinPage(pages: pages).join() }
    add("/password", .get) { (request, _) throws(ServerError) in
        try await PasswordPage(pages: pages).showPassword(request)
    }
    add("/password", .post) { (request, _) throws(ServerError) in
        try await PasswordPage(pages: pages).changePassword(request)
    }
    add("/reset", .get) { (request, _) throws(ServerError) in
        try await PasswordPage(pages: pages).showReset(request)
    }
    add("/reset", .post) { (request, _) throws(ServerError) in
        try await PasswordPage(pages: pages).resetPassword(request)
    }
    add("/signed-out", .get) { (request, _) throws(ServerError) in
        SessionsPage(pages: pages).signedOut(request)
    }
    add("/sessions", .get) { (request, _) throws(ServerError) in
        try await SessionsPage(pages: pages).showSessions(request)
    }
    add("/sessions", .post) { (request, _) throws(ServerError) in
        try await SessionsPage(pages: pages).revokeSession(request)
    }
    add("/discoverable", .post) { (request, _) throws(ServerError) in
        try await SessionsPage(pages: pages).setDiscoverable(request)
    }
    add("/invitations", .get) { (request, _) throws(ServerError) in
        try await InvitationsPage(pages: pages).showInvitations(request)
    }
    add("/invitations", .post) { (request, _) throws(ServerError) in
        try await InvitationsPage(pages: pages).actOnInvitation(request)
    }
    add("/share/{shortGUID}", .get) { (request, context) throws(ServerError) in
        try await SharePage(pages: pages).showShare(
            Text(context.parameters["shortGUID"] ?? ""), request)
    }
    add("/share/{shortGUID}", .post) { (request, context) throws(ServerError) in
        try await SharePage(pages: pages).actOnShare(
            Text(context.parameters["shortGUID"] ?? ""), request)
    }
    add("/share/{shortGUID}/thumbnail", .get) { (request, context) throws(ServerError) in
        try await SharePage(pages: pages).shareThumbnail(
            Text(context.parameters["shortGUID"] ?? ""), request)
    }
    guard let logo = pages.site.logo else { return }
    routes.on("/logo", .get) { _, _ in
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
