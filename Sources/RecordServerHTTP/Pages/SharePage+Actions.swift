import RecordModel
import RecordServerCore
import RecordWire

/// The actions on the page of a share.
enum ShareAction: String, Sendable {
    case accept, decline, request, report

    /// Returns the purpose that the form of the action is sealed for. The form of one action is not
    /// valid for another.
    func seal(_ shortGUID: Text) -> String { "share \(rawValue) \(shortGUID)" }
}

extension SharePage {
    func form(
        _ action: ShareAction, _ words: String, _ shortGUID: Text, _ token: FormToken,
        _ fields: HTML = ""
    ) -> HTML {
        """
        <form method="post" action="/share/\(shortGUID)">
        \(token.field(action.seal(shortGUID)))
        <input type="hidden" name="do" value="\(action.rawValue)">
        \(fields)
        <button type="submit">\(words)</button>
        </form>
        """
    }

    func reportForm(_ shortGUID: Text, _ token: FormToken) -> HTML {
        let field: HTML = """
            <label>The problem with it
            <textarea name="text" maxlength="\(Int64(ShareReport.maximumBytes))"></textarea></label>
            """
        return """
            <details><summary>Report this share</summary>
            <p>The operator of this server gets your name, your text and the share.</p>
            \(form(.report, "Report", shortGUID, token, field))
            </details>
            """
    }

    /// Runs the action of a form. Errors: badRequest for an unknown action, accessDenied for a form
    /// that is not from this page.
    func actOnShare(_ shortGUID: Text, _ request: PageRequest) async throws(ServerError)
        -> PageResponse
    {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in?next=/share/\(QueryEncoding.encode(shortGUID.utf8))")
        }
        let word = request.form?["do"]?.string ?? ShareAction.accept.rawValue
        guard let action = ShareAction(rawValue: word) else {
            throw ServerError(.badRequest, "A share is accepted, declined, asked for or reported.")
        }
        if action == .request { return try await requestAccess(shortGUID, session.user, request) }
        guard let share = try await pages.share(shortGUID, for: session.user) else {
            return noSharePage(shortGUID, session.user, request)
        }
        try requireForm(action, shortGUID, request)
        switch action {
        case .accept: return try await accept(share, shortGUID, session.user, request)
        case .decline: return try await decline(share, shortGUID, session.user, request)
        case .report: return try await report(share, shortGUID, session.user, request)
        case .request: return noSharePage(shortGUID, session.user, request)
        }
    }

    private func requireForm(
        _ action: ShareAction, _ shortGUID: Text, _ request: PageRequest
    ) throws(ServerError) {
        let token = FormToken(request, seal: pages.authenticator.seal)
        guard token.isGood(request, action.seal(shortGUID)) else { throw Pages.staleForm }
    }

    /// Accepts through the operation that programs use, so that the same rules apply.
    private func accept(
        _ share: ShareOnPage, _ shortGUID: Text, _ user: UserRow, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        let item = JSONValue.object([JSONMember(key: "value", value: .string(shortGUID))])
        let body = JSONValue.object([JSONMember(key: "shortGUIDs", value: .array([item]))])
        let answer = try await pages.service.answer(
            body,
            OperationContext(
                endpoint: .recordsAccept, container: share.container, scope: .public,
                caller: .user(user), requestID: request.client.requestID,
                now: request.client.now, baseURL: request.client.baseURL))
        guard Self.isAccepted(answer) else { return noSharePage(shortGUID, user, request) }
        return .redirect(to: "/share/\(shortGUID)")
    }

    /// Returns whether the one result of records/accept is no error.
    private static func isAccepted(_ answer: [UInt8]) -> Bool {
        guard let json = try? JSONParser.parse(answer),
            let result = json["results"]?.array?.first
        else { return false }
        return result["serverErrorCode"] == nil
    }

    private func decline(
        _ share: ShareOnPage, _ shortGUID: Text, _ user: UserRow, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        try await pages.service.shareRequests.declineShare(
            shortGUID, user, milliseconds: request.milliseconds, in: share.container)
        return pages.page(
            "You have declined",
            "<p>The invitation is removed. The person who sent it can invite you again.</p>")
    }

    /// Asks for access. The answer is the same for every outcome. Nothing that depends on the share
    /// is read before the form is checked.
    private func requestAccess(
        _ shortGUID: Text, _ user: UserRow, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        guard Self.isShortGUID(shortGUID), !pages.service.settings.isStrict else {
            return noSharePage(shortGUID, user, request)
        }
        try requireForm(.request, shortGUID, request)
        try await take(.accessRequest(of: user.name), request)
        try await pages.service.shareRequests.requestAccess(
            shortGUID, user, milliseconds: request.milliseconds, in: nil)
        return pages.page(
            "You have asked",
            """
            <p>If something is shared at this address and its owner takes requests, they see yours.
            You get no message when they refuse. Look at <a href="/share/\(shortGUID)">this page</a>
            again later.</p>
            """)
    }

    private func report(
        _ share: ShareOnPage, _ shortGUID: Text, _ user: UserRow, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        let text = request.form?["text"] ?? ""
        guard text.utf8.count <= ShareReport.maximumBytes else {
            throw ServerError(
                .badRequest,
                "The report is longer than \(ShareReport.maximumBytes) bytes: shorten it.")
        }
        try await take(.shareReport(of: user.name), request)
        try await pages.service.shareRequests.reportShare(
            shortGUID, user, text, milliseconds: request.milliseconds, in: share.container,
            pages.logger)
        return pages.page(
            "You have reported it", "<p>The operator of this server can see your report.</p>")
    }

    private func take(
        _ charge: ThrottleCharge, _ request: PageRequest
    ) async throws(ServerError) {
        guard let wait = try await pages.throttles.take([charge], now: request.client.now) else {
            return
        }
        throw ServerError(
            .throttled, "You have done this too often.", retryAfter: wait.wholeSeconds)
    }
}
