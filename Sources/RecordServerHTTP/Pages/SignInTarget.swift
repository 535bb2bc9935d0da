import RecordModel
import RecordServerCore
import RecordWire

/// The place that a person reaches after signing in.
enum SignInTarget: Hashable, Sendable {
    /// A client of a container, which gets a web auth token.
    case client(Client, Delivery)
    /// A page of this server.
    case page(String)

    struct Client: Hashable, Sendable {
        let token: APITokenRow
        /// The origin of the page that asked.
        let origin: Text?
        /// The name of the container for people.
        let title: Text?
    }

    enum Delivery: Hashable, Sendable {
        /// Delivers the token in the query of this URL.
        case callback(CallbackURL)
        /// Delivers the token by `window.postMessage` to these origins, and on the page for
        /// copying.
        case message(origins: [Text])
    }

    /// The sources where a form that leads there may end.
    var formTargets: [String] {
        if case .client(_, .callback(let url)) = self { [url.source] } else { [] }
    }

    /// Returns a page that may follow a sign-in. No other page can be asked for.
    static func localPage(_ next: Text?) -> String {
        if next == "/password" || next == "/invitations" { return next?.string ?? "/sessions" }
        let share = Array("/share/".utf8)
        guard let next, next.utf8.starts(with: share) else { return "/sessions" }
        let guid = next.utf8.dropFirst(share.count)
        let isGUID = !guid.isEmpty && guid.count <= 64 && guid.allSatisfy(ShortGUIDRule.isByte)
        return isGUID ? next.string : "/sessions"
    }
}

/// The rule for the bytes of a short GUID. No other text reaches a page or the storage.
enum ShortGUIDRule {
    static func isByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension SignInPage {
    /// Returns the target that `request`, `callback` and `next` of a sign-in page name. Errors:
    /// `badRequest` for an address of the page that is not valid (any more), or a callback URL that
    /// is not registered.
    func signInTarget(_ request: PageRequest) async throws(ServerError) -> SignInTarget {
        guard let sealed = request["request"] else {
            return .page(SignInTarget.localPage(request["next"]))
        }
        let stale = ServerError(
            .badRequest,
            "The address of this sign-in page is no longer valid. Go back to the previous page "
                + "and start again.")
        guard let signIn = SignInRequest(sealed, seal: pages.authenticator.seal),
            request.milliseconds <= signIn.expiresMilliseconds
        else { throw stale }
        let (row, title) = try await pages.service.storage.read { (reader) throws(ServerError) in
            (
                try reader.apiToken(hash: signIn.apiTokenHash),
                try reader.title(of: signIn.container.container)
            )
        }
        guard let row, !row.isRevoked, row.container == signIn.container,
            row.allows(origin: signIn.origin)
        else { throw stale }
        return .client(
            SignInTarget.Client(token: row, origin: signIn.origin, title: title),
            try delivery(row, origin: signIn.origin, asked: request["callback"]))
    }

    private func delivery(_ row: APITokenRow, origin: Text?, asked: Text?) throws(ServerError)
        -> SignInTarget.Delivery
    {
        guard let registered = row.callbackURL else {
            guard asked == nil else { throw Self.unregistered }
            return .message(origins: origin.map { [$0] } ?? row.allowedOrigins)
        }
        if let url = CallbackURL.target(registered: registered, asked: asked) {
            return .callback(url)
        }
        guard asked == nil else { throw Self.unregistered }
        // The program has no port of its own, so the person copies the token.
        return .message(origins: [])
    }

    private static let unregistered = ServerError(
        .badRequest, "The callback URL is not the one that is registered with the API token.")
}
