import Glibc
package import RecordModel
package import RecordWire

/// The sign-in of the protocol. The server refuses a request without a web auth token and answers
/// with the address of a page. After signing in there, the person is sent to a callback with the
/// token (Protocol, "Credentials").
package struct SignIn: Sendable {
    /// The account without a web auth token and without a user.
    private let account: Account
    private let http: HTTPCall

    package init(_ account: Account, over http: HTTPCall) {
        self.account = account
        self.http = http
    }

    /// Returns the address of the page on which a person signs in. The page then leads to
    /// `callback`. A recordfs-server keeps the sign-in of a device until somebody ends it.
    package func page(callback: String) async throws(SyncProblem) -> String {
        let url = account.url(of: .currentUser, .public, webAuthToken: nil)
        let answer = try await http.send("GET", url)
        let problem = answer.problem
        guard answer.status != 200, case .refused(let error) = problem,
            let page = error.redirectURL
        else { throw problem }
        return "\(page)&callback=\(Text(callback).percentEncoded)"
            + (Self.deviceName.isEmpty ? "" : "&device=\(Text(Self.deviceName).percentEncoded)")
    }

    /// Signs in as a person would on the page, without a browser.
    ///
    /// - Throws: refused with AUTHENTICATION_FAILED for a wrong name or password.
    package func webAuthToken(
        eMail: String, password: [UInt8]
    ) async throws(SyncProblem) -> Text {
        // Nothing opens this address: the answer contains the token.
        let callback = "http://127.0.0.1:1/signed-in"
        let form = try await form(of: try await page(callback: callback))
        var fields = form.fields
        fields.append(("email", Text(eMail)))
        fields.append(("password", Text(utf8: password)))
        fields.append(("stay", "1"))
        // Without this, the server would also sign in a browser.
        fields.append(("program", "1"))
        let answer = try await Self.post(
            fields, to: "/sign-in", of: account, over: http, headers: [("Cookie", form.cookie)])
        guard let place = answer["Location"], place.hasPrefix(callback),
            let token = Text("ckWebAuthToken", inQueryOf: place)
        else { throw Self.refusal(answer) }
        return token
    }

    /// Returns the user that the token belongs to, and the token to use next.
    package func user(
        of token: Text
    ) async throws(SyncProblem) -> (user: UserName, token: Text) {
        let url = account.url(of: .currentUser, .public, webAuthToken: token)
        let answer = try await http.send("GET", url)
        let json = try answer.json(of: .currentUser)
        guard let name = json["userRecordName"]?.string else {
            throw .unreadable("users/current names no user.")
        }
        return (UserName(bytes: name.utf8), answer.nextToken ?? token)
    }

    /// The state of an account's sign-in at the server.
    package enum State: Hashable, Sendable {
        case accepted
        /// The server no longer accepts it.
        case ended
        /// The server was not asked, or its answer does not say.
        case unknown
    }

    /// Asks the server whether it still accepts the account's sign-in. A server that follows
    /// Apple's text is not asked, because the question uses up the token.
    package static func state(
        of account: Account, over http: HTTPCall, patience: Duration
    ) async -> State {
        guard account.profile == .recordfs, account.isSignedIn else { return .unknown }
        let url = account.url(of: .currentUser, .public, webAuthToken: account.webAuthToken)
        do throws(SyncProblem) {
            let answer = try await http.send("GET", url, patience: patience)
            if answer.status == 200 { return .accepted }
            return answer.problem.reaction == .signIn ? .ended : .unknown
        } catch {
            return .unknown
        }
    }

    /// Ends the account's sign-in at the server, so that its tokens are no longer accepted. Only a
    /// recordfs-server can do that.
    ///
    /// - Returns: the state of the sign-in afterwards: `ended` also when it had ended before.
    package static func end(
        _ account: Account, over http: HTTPCall, patience: Duration
    ) async -> State {
        guard account.profile == .recordfs, account.isSignedIn else { return .unknown }
        do throws(SyncProblem) {
            let answer = try await post(
                [("ckWebAuthToken", account.webAuthToken)], to: "/sign-out", of: account,
                over: http, isFromPage: false, patience: patience)
            if answer.status == 200 { return .ended }
        } catch {
            return .unknown
        }
        // The server is an earlier one, or does not know the token.
        return await state(of: account, over: http, patience: patience)
    }

    /// Sends a form of the server's pages.
    ///
    /// - Parameter isFromPage: whether to name the server as the origin, as a browser does. The
    ///   server may know itself by another address than this machine, and then refuses the form.
    private static func post(
        _ fields: [(String, Text)], to path: String, of account: Account, over http: HTTPCall,
        headers: [(String, String)] = [], isFromPage: Bool = true,
        patience: Duration = .seconds(60)
    ) async throws(SyncProblem) -> HTTPCall.Answer {
        let body = fields.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        return try await http.send(
            "POST", account.server + path,
            headers: [("Content-Type", "application/x-www-form-urlencoded")]
                + (isFromPage ? [("Origin", account.server)] : []) + headers,
            body: .bytes(Array(body.utf8)), patience: patience)
    }

    /// The name of this machine; empty when it has none.
    private static let deviceName: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    // MARK: The page

    private struct Form {
        var fields: [(String, Text)]
        let cookie: String
    }

    private func form(of page: String) async throws(SyncProblem) -> Form {
        let answer = try await http.send("GET", page)
        guard answer.status == 200 else { throw Self.refusal(answer) }
        let cookies = answer.headers.filter { $0.name == "set-cookie" }.map {
            String($0.value.prefix { $0 != ";" })
        }
        return Form(
            fields: Self.hiddenFields(String(decoding: answer.body, as: UTF8.self)),
            cookie: cookies.joined(separator: "; "))
    }

    /// Returns the name and the value of each `<input type="hidden" name="NAME" value="VALUE">`.
    private static func hiddenFields(_ page: String) -> [(String, Text)] {
        page.split(separator: "<input type=\"hidden\" ").dropFirst().compactMap { piece in
            let tag = piece.prefix { $0 != ">" }
            guard let name = attribute("name", of: tag), let value = attribute("value", of: tag)
            else { return nil }
            return (name, Text(value))
        }
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = tag.firstRange(of: "\(name)=\"")?.upperBound else { return nil }
        return String(tag[start...].prefix { $0 != "\"" })
            .replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }

    /// Returns the reason in words for a person, as the page in the answer says it.
    private static func refusal(_ answer: HTTPCall.Answer) -> SyncProblem {
        let page = String(decoding: answer.body, as: UTF8.self)
        func words(behind mark: String) -> String? {
            page.firstRange(of: mark).map { String(page[$0.upperBound...].prefix { $0 != "<" }) }
        }
        if let words = words(behind: "role=\"alert\">") {
            return .refused(
                WireError(
                    text: Text(ServerErrorCode.authenticationFailed.rawValue), reason: Text(words)))
        }
        guard answer.status == 400, let words = words(behind: "<p>") else { return answer.problem }
        return .refused(
            WireError(
                text: Text(ServerErrorCode.badRequest.rawValue),
                reason: Text(
                    "\(words) An API token for recordfs is made with recordfs-server token create "
                        + "CONTAINER --name NAME --callback \(callbackOfToken).")))
    }

    /// An address that stands for any port and path of this machine.
    package static let callbackOfToken = "http://127.0.0.1"
}
