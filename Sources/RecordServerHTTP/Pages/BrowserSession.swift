import RecordModel
import RecordServerCore
import RecordWire

/// A session of a user who is signed in to the pages of this server in a browser. Its row is like
/// that of any client, in a container that no request can name.
struct BrowserSession: Sendable {
    static let container = ContainerKey(container: "", environment: .production)

    let row: SessionRow
    let user: UserRow

    static func cookieName(isSecure: Bool) -> String {
        isSecure ? "__Host-recordfs-session" : "recordfs-session"
    }
}

extension Pages {
    private var seal: Seal { authenticator.seal }
    private var settings: AccountSettings { authenticator.settings }

    /// Returns the session of the request's cookie. Returns nil when there is none (any more).
    func browserSession(_ request: PageRequest) async throws(ServerError) -> BrowserSession? {
        let name = BrowserSession.cookieName(isSecure: request.isSecure)
        guard let cookie = request.cookies[name],
            let token = WebAuthToken(Text(cookie), seal: seal, for: .browser),
            !token.isExpired(at: request.milliseconds)
        else { return nil }
        return try await service.storage.read {
            (reader) throws(ServerError) -> BrowserSession? in
            guard let row = try reader.session(token.session),
                row.isGood(for: BrowserSession.container, at: request.milliseconds),
                let user = try reader.user(row.user), !user.isDisabled
            else { return nil }
            return BrowserSession(row: row, user: user)
        }
    }

    /// Makes a session and sets its cookie.
    func startBrowserSession(
        _ user: UserRow, staySignedIn: Bool, _ request: PageRequest, _ response: inout PageResponse
    ) async throws(ServerError) {
        let seconds = staySignedIn ? settings.longSessionSeconds : settings.sessionSeconds
        let row = SessionRow(
            id: Text(SecureRandom.hex128()), user: user.name,
            container: BrowserSession.container, createdMilliseconds: request.milliseconds,
            expiresMilliseconds: request.milliseconds + seconds * 1000, label: request.userAgent)
        try await service.storage.write { (transaction) throws(ServerError) in
            try transaction.putSession(row)
        }
        let token = WebAuthToken(
            session: row.id, generation: 0, issuedMilliseconds: request.milliseconds,
            lifeSeconds: seconds)
        response.setCookie(
            BrowserSession.cookieName(isSecure: request.isSecure),
            token.sealed(by: seal, for: .browser).string, isSecure: request.isSecure,
            seconds: staySignedIn ? seconds : nil)
    }

    func endBrowserSession(
        _ session: BrowserSession, _ request: PageRequest, _ response: inout PageResponse
    ) async throws(ServerError) {
        let ended = try await Accounts(storage: service.storage).revokeSession(
            session.row.id, of: session.user.name)
        noteSignOut(ended, request)
        response.setCookie(
            BrowserSession.cookieName(isSecure: request.isSecure), "", isSecure: request.isSecure,
            seconds: 0)
    }
}
