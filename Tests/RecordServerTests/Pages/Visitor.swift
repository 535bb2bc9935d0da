import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// Somebody with a browser without scripts: keeps cookies, fills in forms, follows what the test
/// tells it to follow.
final class Visitor: Sendable {
    let server: TestServer
    private let jar = Mutex<[String: String]>([:])

    /// Where a trusted proxy says that the visitor comes from.
    let address: String?

    init(_ server: TestServer, from address: String? = nil) {
        self.server = server
        self.address = address
    }

    var cookies: [String: String] {
        get { jar.withLock { $0 } }
    }

    func setCookie(_ name: String, _ value: String?) { jar.withLock { $0[name] = value } }

    struct Page: Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String
        var location: String? { headers[.location] }
        var setCookies: [String] { headers[values: .setCookie] }
    }

    func get(_ target: String) async throws -> Page {
        keep(try await server.request(.get, target, headers: headers))
    }

    func post(
        _ target: String, _ form: [(String, String)], _ extra: HTTPFields = [:]
    ) async throws -> Page {
        let body = form.map { name, value in
            "\(name)=\(QueryEncoding.encode(Array(value.utf8)))"
        }.joined(separator: "&")
        return keep(
            try await server.request(
                .post, target,
                headers: headers + [.contentType: "application/x-www-form-urlencoded"] + extra,
                body: Array(body.utf8)))
    }

    /// Sends the first form of the page that goes to `action`, with its hidden fields and these.
    func submit(_ page: Page, to action: String, _ fields: [(String, String)] = []) async throws
        -> Page
    {
        let form = try #require(Self.forms(of: page).first { $0.action == action })
        return try await post(action, form.hidden + fields)
    }

    /// Signs in at a sign-in page.
    func signIn(
        _ page: Page, _ email: String = "alice@example.org", _ password: String = "correct horse",
        staySignedIn: Bool = false
    ) async throws -> Page {
        let stay = staySignedIn ? [("stay", "1")] : []
        return try await submit(
            page, to: "/sign-in", [("email", email), ("password", password)] + stay)
    }

    struct Form {
        let action: String
        let hidden: [(String, String)]
    }

    static func forms(of page: Page) -> [Form] {
        page.text.matches(
            of: /<form method="post" action="([^"]*)">(.*?)<\/form>/.dotMatchesNewlines()
        )
        .map { form in
            let fields = form.output.2.matches(
                of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/)
            return Form(
                action: String(form.output.1),
                hidden: fields.map {
                    (String($0.output.1), String($0.output.2).replacing("&amp;", with: "&"))
                })
        }
    }

    private var headers: HTTPFields {
        var headers: HTTPFields = [.cookie: cookieHeader]
        if let address, let name = HTTPField.Name("X-Forwarded-For") { headers[name] = address }
        return headers
    }

    private var cookieHeader: String {
        jar.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
    }

    private func keep(_ answer: TestServer.Answer) -> Page {
        let page = Page(status: answer.status, headers: answer.headers, text: answer.text)
        for cookie in page.setCookies {
            let pair = cookie.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2 else { continue }
            let isGone = cookie.contains("Max-Age=0")
            setCookie(String(pair[0]), isGone ? nil : String(pair[1]))
        }
        return page
    }
}

extension TestServer {
    /// A server whose alice, bob and carol have the password `correct horse`.
    static func withPasswords(
        _ transport: Transport = .router,
        configure: (inout ServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        let server = try await TestServer(transport) {
            $0.accounts.passwordCost = .quick
            configure(&$0)
        }
        for name in ["alice", "bob", "carol"] {
            _ = try await server.accounts.setPassword(
                of: Text(name + "@example.org"), to: Array("correct horse".utf8), cost: .quick)
        }
        return server
    }

    var accounts: Accounts { Accounts(storage: storage) }

    static let development = ContainerKey(container: container, environment: .development)

    /// Path and query of the sign-in page that a request with this API token is sent to.
    func signInPath(apiToken: Text? = nil, origin: String? = nil) async throws -> String {
        var headers: HTTPFields = [:]
        if let origin { headers[.origin] = origin }
        let token = apiToken?.string ?? Self.apiTokens[0]
        let answer = try await request(
            .get,
            "/database/1/\(Self.container)/development/public/users/caller?ckAPIToken=\(token)",
            headers: headers)
        #expect(answer.status == 421)
        let url = try #require(answer.json["redirectURL"]?.string?.string)
        let start = try #require(url.firstRange(of: "/sign-in")?.lowerBound)
        return String(url[start...])
    }

    /// Who a request with this web auth token comes from; nil for nobody.
    func caller(_ webAuthToken: String, apiToken: Text? = nil) async throws -> String? {
        let token = apiToken?.string ?? Self.apiTokens[0]
        let answer = try await request(
            .get,
            "/database/1/\(Self.container)/development/public/users/caller?ckAPIToken=\(token)"
                + "&ckWebAuthToken=\(webAuthToken)")
        guard answer.status == 200 else { return nil }
        return answer.json["userRecordName"]?.string?.string
    }
}
