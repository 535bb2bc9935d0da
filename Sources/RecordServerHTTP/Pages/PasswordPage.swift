import Logging
import RecordModel
import RecordServerCore
import RecordWire

/// The pages on which people change their password, or choose a new one through a link without the
/// old one.
struct PasswordPage: Sendable {
    let pages: Pages

    private static let changeAction = "password"
    private static let resetAction = "reset"

    func showPassword(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard try await pages.browserSession(request) != nil else {
            return .redirect(to: "/sign-in?next=/password")
        }
        return passwordPage(request)
    }

    func changePassword(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard let session = try await pages.browserSession(request) else {
            return .redirect(to: "/sign-in?next=/password")
        }
        guard FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.changeAction)
        else {
            throw Pages.staleForm
        }
        if let fault = Self.fault(ofNewPasswordIn: request, for: session.user) {
            return passwordPage(request, status: 400, fault: fault)
        }
        let user: UserRow?
        do throws(ServerError) {
            user = try await pages.verified(
                session.user.emailAddress, request["current"]?.utf8 ?? [], request)
        } catch  where error.code == .throttled || error.code == .tryAgainLater {
            return pages.waiting(
                error,
                passwordPage(
                    request, status: error.code.httpStatus, fault: Pages.words(of: error)))
        }
        guard user?.name == session.user.name else {
            return passwordPage(
                request, status: 403, fault: "The current password is not right.")
        }
        try await Accounts(storage: pages.service.storage).changePassword(
            of: session.user, to: request["new"]?.utf8 ?? [],
            cost: pages.authenticator.settings.passwordCost,
            endsOthersThan: request["others"] == nil ? nil : session.row.id,
            pages.event(.passwordChanged, of: session.user.name, request))
        pages.logger.notice(
            "password changed", metadata: pages.eventMetadata(session.user.name, request))
        return .redirect(to: "/sessions")
    }

    /// Returns the page of a reset link. It is the same for a valid and for an invalid link, until
    /// a password is sent.
    func showReset(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        resetPage(request)
    }

    func resetPassword(_ request: PageRequest) async throws(ServerError) -> PageResponse {
        guard FormToken(request, seal: pages.authenticator.seal).isGood(request, Self.resetAction)
        else {
            throw Pages.staleForm
        }
        guard let reset = PasswordReset(request["code"] ?? "") else { throw Accounts.staleReset }
        if let fault = Self.fault(ofNewPasswordIn: request, for: nil) {
            return resetPage(request, status: 400, fault: fault)
        }
        let user: UserRow
        do throws(ServerError) {
            user = try await Accounts(storage: pages.service.storage).setPassword(
                by: reset, to: request["new"]?.utf8 ?? [],
                cost: pages.authenticator.settings.passwordCost,
                pages.event(.passwordReset, of: reset.user, request))
        } catch  where error.code == .badRequest {
            return resetPage(request, status: 400, fault: "\(error.reason)")
        }
        pages.logger.notice("password reset", metadata: pages.eventMetadata(user.name, request))
        return pages.page(
            "Your password is set",
            """
            <p>All your sign-ins have ended. <a href="/sign-in">Sign in</a> with the new password.</p>
            """)
    }

    private static func fault(ofNewPasswordIn request: PageRequest, for user: UserRow?) -> HTML? {
        let new = request["new"]?.utf8 ?? []
        guard new == request["again"]?.utf8 ?? [] else {
            return "The two new passwords are not the same."
        }
        return Password.fault(of: new, for: user).map { "\($0)" }
    }

    private static let newFields: HTML = """
        <label>New password
        <input type="password" name="new" required autocomplete="new-password"
          aria-describedby="rules"></label>
        <label>New password once more
        <input type="password" name="again" required autocomplete="new-password"></label>
        <p id="rules">At least \(Int64(Password.minimumCharacters)) characters of any kind, better
        \(Int64(Password.recommendedCharacters)) or more: several words, for example. You can paste it
        from a password manager.</p>
        """

    private func passwordPage(
        _ request: PageRequest, status: Int = 200, fault: HTML? = nil
    ) -> PageResponse {
        form(
            "Change your password", Self.changeAction, "/password", request, status, fault,
            """
            <label>Current password
            <input type="password" name="current" required autocomplete="current-password"></label>
            \(Self.newFields)
            <label><input type="checkbox" name="others" value="1" checked> End all my other sign-ins
            </label>
            <button type="submit">Change</button>
            """)
    }

    private func resetPage(
        _ request: PageRequest, status: Int = 200, fault: HTML? = nil
    ) -> PageResponse {
        form(
            "Choose a password", Self.resetAction, "/reset", request, status, fault,
            """
            <input type="hidden" name="code" value="\(request["code"] ?? "")">
            \(Self.newFields)
            <button type="submit">Set</button>
            """)
    }

    private func form(
        _ title: String, _ action: String, _ path: String, _ request: PageRequest, _ status: Int,
        _ fault: HTML?, _ fields: HTML
    ) -> PageResponse {
        let token = FormToken(request, seal: pages.authenticator.seal)
        let error: HTML = fault.map { "<p class=\"error\" role=\"alert\">\($0)</p>" } ?? ""
        var response = pages.page(
            title, status: status,
            """
            \(error)
            <form method="post" action="\(path)">
            \(token.field(action))
            \(fields)
            </form>
            """)
        response.setCookie(of: token, isSecure: request.isSecure)
        return response
    }
}
