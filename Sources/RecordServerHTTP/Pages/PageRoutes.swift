import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordWire

/// The pages of the server, each with its path.
package struct PageRoutes: Sendable {
    private typealias Page =
        @Sendable (PageRequest, HTTPContext) async throws(ServerError) -> PageResponse

    private let pages: Pages
    private let client: @Sendable (HTTPContext) -> PageClient

    /// - Parameter client: tells who asks for a page.
    package init(_ pages: Pages, client: @escaping @Sendable (HTTPContext) -> PageClient) {
        self.pages = pages
        self.client = client
    }

    package func add(to routes: inout RouteTable) {
        addSignIn(to: &routes)
        addPassword(to: &routes)
        addAccount(to: &routes)
        addShares(to: &routes)
        guard let logo = pages.site.logo else { return }
        routes.on("/logo", .get) { _, _ in
            Response(
                status: .ok, headers: HTTPFields(logo.headers),
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: logo.bytes)))
        }
    }

    private func addSignIn(to routes: inout RouteTable) {
        add("/join", .get, to: &routes) { (_, _) throws(ServerError) in
            JoinPage(pages: pages).join()
        }
        add("/sign-in", .get, to: &routes) { (request, _) throws(ServerError) in
            try await SignInPage(pages: pages).showSignIn(request)
        }
        add("/sign-in", .post, to: &routes) { (request, _) throws(ServerError) in
            try await SignInPage(pages: pages).signIn(request)
        }
        add("/sign-out", .post, to: &routes) { (request, _) throws(ServerError) in
            try await SessionsPage(pages: pages).signOut(request)
        }
        add("/sign-out-everywhere", .post, to: &routes) { (request, _) throws(ServerError) in
            try await SessionsPage(pages: pages).signOutEverywhere(request)
        }
        add("/signed-out", .get, to: &routes) { (request, _) throws(ServerError) in
            SessionsPage(pages: pages).signedOut(request)
        }
    }

    private func addPassword(to routes: inout RouteTable) {
        add("/password", .get, to: &routes) { (request, _) throws(ServerError) in
            try await PasswordPage(pages: pages).showPassword(request)
        }
        add("/password", .post, to: &routes) { (request, _) throws(ServerError) in
            try await PasswordPage(pages: pages).changePassword(request)
        }
        add("/reset", .get, to: &routes) { (request, _) throws(ServerError) in
            try await PasswordPage(pages: pages).showReset(request)
        }
        add("/reset", .post, to: &routes) { (request, _) throws(ServerError) in
            try await PasswordPage(pages: pages).resetPassword(request)
        }
    }

    private func addAccount(to routes: inout RouteTable) {
        add("/sessions", .get, to: &routes) { (request, _) throws(ServerError) in
            try await SessionsPage(pages: pages).showSessions(request)
        }
        add("/sessions", .post, to: &routes) { (request, _) throws(ServerError) in
            try await SessionsPage(pages: pages).revokeSession(request)
        }
        add("/discoverable", .post, to: &routes) { (request, _) throws(ServerError) in
            try await SessionsPage(pages: pages).setDiscoverable(request)
        }
        add("/invitations", .get, to: &routes) { (request, _) throws(ServerError) in
            try await InvitationsPage(pages: pages).showInvitations(request)
        }
        add("/invitations", .post, to: &routes) { (request, _) throws(ServerError) in
            try await InvitationsPage(pages: pages).actOnInvitation(request)
        }
    }

    private func addShares(to routes: inout RouteTable) {
        add("/share/{shortGUID}", .get, to: &routes) { (request, context) throws(ServerError) in
            try await SharePage(pages: pages).showShare(Self.shortGUID(context), request)
        }
        add("/share/{shortGUID}", .post, to: &routes) { (request, context) throws(ServerError) in
            try await SharePage(pages: pages).actOnShare(Self.shortGUID(context), request)
        }
        add("/share/{shortGUID}/thumbnail", .get, to: &routes) {
            (request, context) throws(ServerError) in
            try await SharePage(pages: pages).shareThumbnail(Self.shortGUID(context), request)
        }
    }

    private static func shortGUID(_ context: HTTPContext) -> Text {
        Text(context.parameters["shortGUID"] ?? "")
    }

    private func add(
        _ path: String, _ method: HTTPRequest.Method, to routes: inout RouteTable,
        _ page: @escaping Page
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
