import RecordModel
import RecordServerCore
import RecordWire

/// The page on which people sign in, to this site or to a client.
struct SignInPage: Sendable {
    let pages: Pages

    private static let action = "sign-in"
    /// The parameters of the page's address. Its forms have them too.
    private static let parameters = ["request", "callback", "next", "device"]

    func showSignIn(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        let target = try await signInTarget(request)
        let session = request["other"] == nil ? try await pages.browserSession(request) : nil
        if case .page(let path) = target, session != nil { return .redirect(to: path) }
        return signInPage(request, target, known: session?.user)
    }

    func signIn(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        let target = try await signInTarget(request)
        guard FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.action) else {
            return signInPage(
                request, target, status: 403,
                fault: "The form was too old, or your browser keeps no cookies. Please try again.")
        }
        let staySignedIn = request["stay"] != nil
        if request["continue"] != nil {
            guard let session = try await pages.browserSession(request) else {
                return signInPage(request, target, status: 403, fault: "Please sign in again.")
            }
            try await pages.noteSignIn(session.user, to: target, request)
            return try await finish(target, session.user, staySignedIn, request)
        }
        let user: UserRow?
        do throws(ServerError) {
            user = try await pages.verified(
                request["email"] ?? "", request["password"]?.utf8 ?? [], request)
        } catch  where error.code == .throttled || error.code == .tryAgainLater {
            return pages.waiting(
                error,
                signInPage(
                    request, target, status: error.code.httpStatus, fault: Pages.words(of: error)))
        }
        guard let user else {
            return signInPage(
                request, target, status: 403,
                fault: "The e-mail address or the password is not right.")
        }
        var response = try await finish(target, user, staySignedIn, request)
        try await pages.noteSignIn(user, to: target, request)
        // A program that sends the form by itself keeps no cookies: nobody would end this session.
        if case .client = target, request["program"] != nil { return response }
        try await pages.startBrowserSession(user, staySignedIn: staySignedIn, request, &response)
        pages.remember(user, request, &response)
        return response
    }

    private func finish(
        _ target: SignInTarget, _ user: UserRow, _ staySignedIn: Bool, _ request: PageRequest
    ) async throws(ServerError) -> PageResponse {
        switch target {
        case .page(let path): return .redirect(to: path)
        case .client(let client, let delivery):
            let row = client.token
            let device = deviceName(request, delivery)
            let token = try await pages.authenticator.signIn(
                user.name, container: row.container, staySignedIn: staySignedIn,
                isDevice: device != nil,
                label: Self.label(row.name, device, request), now: request.client.now)
            switch delivery {
            case .callback(let url): return .redirect(to: url.adding("ckWebAuthToken", token))
            case .message(let origins): return tokenPage(token, origins: origins)
            }
        }
    }

    /// Returns the name of a device that stays signed in until somebody ends it. Only a program
    /// that waits for its answer on the same machine may ask for that.
    private func deviceName(_ request: PageRequest, _ delivery: SignInTarget.Delivery) -> Text? {
        guard case .callback(let url) = delivery, url.isOfOwnMachine,
            let name = request["device"], !name.isEmpty
        else { return nil }
        return Text(utf8: Array(name.utf8.prefix(Self.deviceNameBytes)))
    }

    private static let deviceNameBytes = 64

    private static func label(_ program: Text, _ device: Text?, _ request: PageRequest) -> Text {
        guard let device else { return program }
        return Text("\(program) on \(device), from \(request.client.address)")
    }

    /// Returns the page that sends the token to the page which opened this window. Without a
    /// script, or without such a page, the person copies the token.
    private func tokenPage(_ token: Text, origins: [Text]) -> PageResponse {
        let list = origins.map(\.string).joined(separator: " ")
        return pages.page(
            "You are signed in", hasScript: true,
            """
            <div id="token" data-token="\(token)" data-origins="\(list)"></div>
            <p>You can close this window now.</p>
            <p><label>If the program asks for a token, copy this one into it, and show it to nobody:
            <textarea readonly rows="6">\(token)</textarea></label></p>
            """)
    }

    private func signInPage(
        _ request: PageRequest, _ target: SignInTarget, status: Int = 200, fault: HTML? = nil,
        known: UserRow? = nil
    ) -> PageResponse {
        let token = FormToken(request, seal: pages.authenticator.seal)
        let error: HTML = fault.map { "<p class=\"error\" role=\"alert\">\($0)</p>" } ?? ""
        let hidden = Self.parameters.compactMap { name in
            request[name].map { "<input type=\"hidden\" name=\"\(name)\" value=\"\($0)\">" as HTML }
        }
        let fields = known.map { continueFields($0, request) } ?? Self.passwordFields(request)
        let purpose = purpose(of: target, known: known, request)
        var response = pages.page(
            "Sign in", status: status, formTargets: target.formTargets,
            """
            \(purpose?.request ?? "")
            \(error)
            <form method="post" action="/sign-in">
            \(token.field(Self.action))
            \(hidden)
            \(fields)
            </form>
            \(purpose?.limits ?? "")
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }

    private func purpose(
        of target: SignInTarget, known: UserRow?, _ request: PageRequest
    ) -> SignInPurpose? {
        guard case .client(let client, let delivery) = target else { return nil }
        return SignInPurpose(
            client: client, delivery: delivery, settings: pages.authenticator.settings,
            known: known,
            device: deviceName(request, delivery))
    }

    private static func passwordFields(_ request: PageRequest) -> HTML {
        """
        <label>E-mail address
        <input type="email" name="email" value="\(request.form?["email"] ?? "")" required
          autocomplete="username" autocapitalize="none" spellcheck="false"></label>
        <label>Password
        <input type="password" name="password" required autocomplete="current-password"></label>
        <label><input type="checkbox" name="stay" value="1"> Stay signed in</label>
        <button type="submit">Sign in</button>
        """
    }

    private func continueFields(_ user: UserRow, _ request: PageRequest) -> HTML {
        let items = Self.parameters.compactMap { name in
            request[name].map { "\(name)=\(QueryEncoding.encode($0.utf8))" }
        }
        let other = "/sign-in?" + (items + ["other=1"]).joined(separator: "&")
        return """
            <input type="hidden" name="continue" value="1">
            <p>You are signed in as <strong>\(user.emailAddress)</strong>.</p>
            <label><input type="checkbox" name="stay" value="1"> Stay signed in</label>
            <button type="submit">Continue</button>
            <p><a href="\(other)">Use another account</a></p>
            """
    }
}
