import Logging
import RecordModel
import RecordServerCore
import RecordWire

/// The page of a user's sign-ins and sessions, and the forms that end them.
struct SessionsPage: Sendable {
    let pages: Pages

    private static let signOutAction = "sign-out"
    private static let everywhereAction = "sign-out-everywhere"
    private static let revokeAction = "sessions"
    private static let discoverAction = "discoverable"

    /// Returns the page of a person's sign-ins, each with a button that ends it.
    func showSessions(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in")
        }
        let rows = try await Accounts(storage: pages.service.storage)
            .sessions(of: Text(utf8: session.user.name.bytes))
            .filter { !$0.isRevoked && $0.expiresMilliseconds >= request.milliseconds }
        let token = FormToken(request, seal: pages.authenticator.seal)
        let activity = AccountActivity(
            events: try await Accounts(storage: pages.service.storage)
                .events(of: Text(utf8: session.user.name.bytes)),
            milliseconds: request.milliseconds)
        let titles = try await titles(of: Set(rows.map(\.container.container)))
        let items = rows.map { row in
            item(
                row, title: titles[row.container.container], isThis: row.id == session.row.id,
                token.field(Self.revokeAction))
        }
        var response = pages.page(
            "Where you are signed in",
            """
            \(activity.notice)
            <p>You are signed in as <strong>\(session.user.emailAddress)</strong>.</p>
            <p><a href="/password">Change your password</a> ·
            <a href="/invitations">Invitations</a></p>
            <form method="post" action="/sign-out">
            \(token.field(Self.signOutAction))
            <button type="submit">Sign out of this browser</button>
            </form>
            <ul>\(items)</ul>
            <form method="post" action="/sign-out-everywhere">
            \(token.field(Self.everywhereAction))
            <button type="submit">Sign out everywhere</button>
            </form>
            \(activity.list)
            \(discoverability(of: session.user, token.field(Self.discoverAction)))
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }

    private func titles(of containers: Set<Text>) async throws(ServerError) -> [Text: Text] {
        try await pages.service.storage.read { (reader) throws(ServerError) in
            var titles: [Text: Text] = [:]
            for container in containers { titles[container] = try reader.title(of: container) }
            return titles
        }
    }

    private func item(_ row: SessionRow, title: Text?, isThis: Bool, _ field: HTML) -> HTML {
        let place: HTML
        if row.container == BrowserSession.container {
            place = isThis ? "This browser" : "A browser"
        } else {
            let name = title ?? row.container.container
            place = "\(name) (\(row.container.environment.rawValue))"
        }
        let kind: HTML = row.isOfDevice ? "Device, signed in until you end it<br>" : ""
        return """
            <li><strong>\(place)</strong><br>\(row.label)<br>
            \(kind)
            since \(PageTime.text(milliseconds: row.createdMilliseconds)), last used
            \(PageTime.text(milliseconds: row.generationMilliseconds))
            <form method="post" action="/sessions">
            \(field)
            <input type="hidden" name="session" value="\(row.id)">
            <button type="submit">End</button>
            </form></li>
            """
    }

    func revokeSession(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in")
        }
        guard FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.revokeAction)
        else {
            throw Pages.staleForm
        }
        let ended = try await Accounts(storage: pages.service.storage).revokeSession(
            request["session"] ?? "", of: session.user.name)
        pages.noteSignOut(ended, request)
        return .redirect(to: "/sessions")
    }

    /// Returns the text about the information that others can find about the person, with a button
    /// that changes it.
    private func discoverability(of user: UserRow, _ field: HTML) -> HTML {
        let state: HTML =
            user.isDiscoverable
            ? "Others on this server find your name, and you by your e-mail address."
            : "Others on this server do not find you."
        let (value, label) =
            user.isDiscoverable
            ? ("no", "Do not let others find me") : ("yes", "Let others find me")
        return """
            <h2>Being found</h2>
            <p>\(state)</p>
            <form method="post" action="/discoverable">
            \(field)
            <input type="hidden" name="discoverable" value="\(value)">
            <button type="submit">\(label)</button>
            </form>
            """
    }

    func setDiscoverable(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in")
        }
        guard
            FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.discoverAction)
        else { throw Pages.staleForm }
        let agrees = request["discoverable"] == "yes"
        _ = try await Accounts(storage: pages.service.storage)
            .changeUser(Text(utf8: session.user.name.bytes)) { $0.isDiscoverable = agrees }
        return .redirect(to: "/sessions")
    }

    /// Ends the session of the browser, or that of the web auth token that a program sends.
    func signOut(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        if let token = request.form?["ckWebAuthToken"] {
            return try await endSession(of: token, request)
        }
        var response = PageResponse.redirect(to: "/signed-out")
        guard let session = try await pages.browserSession(request) else { return response }
        guard FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.signOutAction)
        else {
            throw Pages.staleForm
        }
        try await pages.endBrowserSession(session, request, &response)
        return response
    }

    /// Ends the session of a web auth token. The token itself says that this is wanted: no other
    /// page and no other person has it. An earlier token of the session ends it too.
    ///
    /// Errors: `notFound` for a token that this server has not made.
    private func endSession(
        of token: Text, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        guard let token = WebAuthToken(token, seal: pages.authenticator.seal) else {
            throw ServerError(.notFound, "There is no such session.")
        }
        let ended = try await Accounts(storage: pages.service.storage).revokeSession(token.session)
        pages.noteSignOut(ended, request)
        return pages.page("You are signed out", "<p>This sign-in has ended.</p>")
    }

    /// Ends all sign-ins of a person: those of this browser and of every program and machine.
    func signOutEverywhere(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        var response = PageResponse.redirect(to: "/sign-in")
        guard let session = try await pages.browserSession(request) else { return response }
        guard
            FormToken(request, seal: pages.authenticator.seal).isGood(
                request, Self.everywhereAction)
        else { throw Pages.staleForm }
        let ended = pages.event(.sessionsEnded, of: session.user.name, request)
        try await Accounts(storage: pages.service.storage).endSessions(
            of: Text(utf8: session.user.name.bytes), now: request.client.now,
            address: ended.address, agent: ended.agent)
        pages.logger.notice(
            "all sign-ins ended", metadata: pages.eventMetadata(session.user.name, request))
        try await pages.endBrowserSession(session, request, &response)
        return response
    }

    func signedOut(_ request: PageRequest) -> PageResponse {
        pages.page(
            "You are signed out",
            """
            <p>Programs that you signed in to stay signed in.
            <a href="/sign-in">Sign in again</a></p>
            """)
    }
}
