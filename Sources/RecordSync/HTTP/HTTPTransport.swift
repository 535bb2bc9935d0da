package import RecordModel
package import RecordWire
import Synchronization

/// The operations of one account over HTTP.
package final class HTTPTransport: SyncTransport {
    private let account: Account
    private let http: HTTPCall
    private let tokens: WebTokens
    private let reachability: Reachability
    /// Indicates whether the server has said that it takes bodies in gzip.
    private let takesGzip = Atomic<Bool>(false)
    private let pace = RequestPace()
    private let serverClock = ServerClock()
    private let noteSignIn: @Sendable (_ isAccepted: Bool) -> Void

    /// - Parameters:
    ///   - tokens: the tokens of the account, shared by everything that sends for it.
    ///   - reachability: is notified of the outcome of each request.
    ///   - noteSignIn: is called for each answer with whether the server accepts the sign-in.
    package init(
        _ account: Account, over http: HTTPCall, tokens: WebTokens,
        reachability: Reachability = Reachability(),
        noteSignIn: @escaping @Sendable (_ isAccepted: Bool) -> Void = { _ in }
    ) {
        self.reachability = reachability
        self.account = account
        self.http = http
        self.tokens = tokens
        self.noteSignIn = noteSignIn
    }

    /// The time by which the server's clock is ahead of this machine's clock. Nil when the server
    /// has not sent its time yet.
    package var clockDifference: Duration? { serverClock.difference }

    package func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        if isOurs { await pace.wait() }
        if isOurs, takesGzip.load(ordering: .relaxed), body.count >= Self.leastPacked {
            let packed = Gzip.compress(body)
            if packed.count < body.count {
                let answer = try await post(packed, isPacked: true, operation, scope)
                if answer.status != 415 { return try answer.json(of: operation) }
                // A machine between does not take gzip, or the server has changed.
                takesGzip.store(false, ordering: .relaxed)
            }
        }
        return try await post(body, isPacked: false, operation, scope).json(of: operation)
    }

    /// A body with fewer bytes does not become shorter.
    private static let leastPacked = 200
    private var isOurs: Bool { account.profile == .recordfs }

    private func post(
        _ body: [UInt8], isPacked: Bool, _ operation: SyncOperation, _ scope: DatabaseScope
    ) async throws(SyncProblem) -> HTTPCall.Answer {
        let (account, http) = (account, http)
        var headers = [("Content-Type", "application/json")]
        if isOurs { headers += [Self.minimal, ("Accept-Encoding", "gzip")] }
        if isPacked { headers.append(("Content-Encoding", "gzip")) }
        let all = headers
        let reachability = reachability
        let answer = try await tokens.sign { (token) throws(SyncProblem) in
            try await reachability.noting { () async throws(SyncProblem) in
                try await http.send(
                    "POST", account.url(of: operation, scope, webAuthToken: token),
                    headers: all, body: .bytes(body),
                    patience: HTTPCall.patience(bytes: Int64(body.count)))
            }
        }
        if answer["Accept-Encoding"]?.contains("gzip") == true {
            takesGzip.store(true, ordering: .relaxed)
        }
        let whole = try answer.unpacked()
        serverClock.hear(whole["date"])
        if whole.status == 200 {
            noteSignIn(true)
        } else if whole.problem.reaction == .signIn {
            noteSignIn(false)
        }
        return whole
    }

    /// Indicates whether the server takes texts as changes. All servers that announce gzip know
    /// them.
    package var takesSplices: Bool { isOurs && takesGzip.load(ordering: .relaxed) }

    private static let minimal = ("Prefer", "return=minimal")

    package func upload(
        _ file: OutgoingFile, to url: String
    ) async throws(SyncProblem) -> JSONValue {
        let http = http
        let answer = try await reachability.noting { () async throws(SyncProblem) in
            try await http.send(
                "POST", url, headers: [("Content-Type", "application/octet-stream")],
                body: .file(file), patience: HTTPCall.patience(bytes: file.size))
        }
        return try answer.json(of: .assetsUpload)
    }

    package func download(
        _ url: String, from offset: Int64, count: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) {
        let range = "bytes=\(offset)-\(offset + count - 1)"
        let refusal = try await http.receive(
            url, headers: [("Range", range)], bytes: count, take: take)
        if let refusal { throw refusal.problem }
    }

    package func poll(_ url: String) async throws(SyncProblem) -> [UInt8] {
        // A recordfs-server holds a poll for 50 seconds. A poll that is held for much longer is
        // lost.
        let (http, isOurs) = (http, isOurs)
        let answer = try await reachability.noting { () async throws(SyncProblem) in
            try await http.send(
                "GET", url, headers: isOurs ? [Self.minimal] : [],
                patience: isOurs ? .seconds(100) : .seconds(300))
        }
        guard answer.status == 200 else { throw answer.problem }
        return answer.body
    }
}

extension HTTPCall.Answer {
    private static let largestUnpacked = 256 << 20

    /// Returns the answer with its body unpacked.
    fileprivate func unpacked() throws(SyncProblem) -> HTTPCall.Answer {
        guard self["Content-Encoding"] == "gzip" else { return self }
        do throws(ServerError) {
            return HTTPCall.Answer(
                status: status, headers: headers,
                body: try Gunzip.decompress(body, maximumBytes: Self.largestUnpacked))
        } catch {
            throw .unreadable("an answer in gzip that is none.")
        }
    }

    /// Returns the JSON of the answer to an operation, or throws the error that the answer
    /// contains.
    func json(of operation: SyncOperation) throws(SyncProblem) -> JSONValue {
        guard status == 200 else { throw problem }
        do throws(RecordError) {
            return try JSONParser.parse(body)
        } catch {
            throw .unreadable("\(operation.rawValue) was answered with what is not JSON.")
        }
    }

    /// The problem that an answer without status 200 reports.
    var problem: SyncProblem {
        do {
            if let error = try WireError(JSONReader(try JSONParser.parse(body))) {
                return .refused(error)
            }
        } catch {
            // Perhaps the page of a proxy: the status says more than the text.
        }
        if status == 413 {
            let code = Text(ServerErrorCode.limitExceeded.rawValue)
            return .refused(WireError(text: code, reason: "Something on the way takes less."))
        }
        return .unreadable("status \(status) without an error that says why.")
    }
}

extension Account {
    /// Returns the address of an operation with its credentials.
    func url(
        of operation: SyncOperation, _ scope: DatabaseScope, webAuthToken: Text?
    ) -> String {
        // For operations of devices, Apple's service answers 405 at the addresses of its reference.
        let place =
            operation.isDevice
            ? "device/1/\(container)/\(environment.rawValue)"
            : "database/1/\(container)/\(environment.rawValue)/\(scope.rawValue)"
        return "\(server)/\(place)/\(operation.rawValue)?ckAPIToken=\(apiToken.percentEncoded)"
            + (webAuthToken.map { "&ckWebAuthToken=\($0.percentEncoded)" } ?? "")
    }
}
