import RecordModel
import RecordWire

extension Pages {
    private static func action(_ shortGUID: Text) -> String { "share \(shortGUID)" }

    func showShare(_ shortGUID: Text, _ request: PageRequest) async throws(ServerError)
        -> PageResponse
    {
        let session = try await browserSession(request)
        guard let share = try await share(shortGUID, for: session?.user) else {
            return noSharePage(request)
        }
        return sharePage(share, shortGUID, session?.user, request)
    }

    /// Accepts through the operation that programs use, so that its rules are the same.
    func acceptShare(_ shortGUID: Text, _ request: PageRequest) async throws(ServerError)
        -> PageResponse
    {
        guard let session = try await browserSession(request) else {
            return .redirect(to: "/sign-in?next=/share/\(QueryEncoding.encode(shortGUID.utf8))")
        }
        guard let share = try await share(shortGUID, for: session.user) else {
            return noSharePage(request)
        }
        guard
            FormToken(request, seal: authenticator.seal)
                .isGood(request, Self.action(shortGUID))
        else { throw Self.staleForm }
        let item = JSONValue.object([JSONMember(key: "value", value: .string(shortGUID))])
        let body = JSONValue.object([JSONMember(key: "shortGUIDs", value: .array([item]))])
        let answer = try await service.answer(
            body,
            OperationContext(
                endpoint: .recordsAccept, container: share.container, scope: .public,
                caller: .user(session.user), requestID: request.client.requestID,
                now: request.client.now, baseURL: request.client.baseURL))
        guard Self.isAccepted(answer) else { return noSharePage(request) }
        return .redirect(to: "/share/\(shortGUID)")
    }

    /// Whether the one result of records/accept is no error.
    private static func isAccepted(_ answer: [UInt8]) -> Bool {
        guard let json = try? JSONParser.parse(answer),
            let result = json["results"]?.array?.first
        else { return false }
        return result["serverErrorCode"] == nil
    }

    /// The same page for a share that does not exist, was revoked, or is for somebody else.
    private func noSharePage(_ request: PageRequest) -> PageResponse {
        page(
            "There is nothing here for you", status: 404,
            """
            <p>Nothing is shared at this address, or it is shared with somebody else. If you have
            more than one account, look at <a href="/sessions">which one you are signed in with</a>.
            </p>
            """)
    }

    private func sharePage(
        _ share: ShareOnPage, _ shortGUID: Text, _ user: UserRow?, _ request: PageRequest
    ) -> PageResponse {
        let token = FormToken(request, seal: authenticator.seal)
        let address = "\(request.client.baseURL)/share/\(shortGUID)"
        let what: HTML
        switch (share.title, share.ownerName) {
        case (let title?, let owner?):
            what = "<p>\(owner) shares <strong>\(title)</strong> with you.</p>"
        case (let title?, nil): what = "<p>This is <strong>\(title)</strong>.</p>"
        case (nil, let owner?): what = "<p>\(owner) shares something with you.</p>"
        case (nil, nil): what = "<p>Somebody shares something at this address.</p>"
        }
        let rights: HTML =
            share.permission == .readWrite ? "see and change it" : "see it"
        let content: HTML
        switch share.relation {
        case .owner:
            content = "<p>You share this. Send the address of this page to those you invited.</p>"
        case .member: content = "\(what)<p>You have accepted. You can \(rights).</p>"
        case .unknown: content = "\(what)\(Self.signInLink(shortGUID))"
        case .invited where user == nil:
            content = "\(what)<p>You can \(rights).</p>\(Self.signInLink(shortGUID))"
        case .invited:
            content = """
                \(what)<p>You can \(rights) once you accept.</p>
                <form method="post" action="/share/\(shortGUID)">
                \(token.field(Self.action(shortGUID)))
                <button type="submit">Accept</button>
                </form>
                """
        }
        var response = page(
            "A share",
            """
            \(content)
            <p>On a machine with RecordFS: <code>recordfs accept \(address)</code></p>
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }

    private static func signInLink(_ shortGUID: Text) -> HTML {
        """
        <p><a href="/sign-in?next=/share/\(shortGUID)">Sign in</a> to accept.</p>
        """
    }
}
