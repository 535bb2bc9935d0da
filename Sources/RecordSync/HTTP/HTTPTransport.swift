package import RecordModel
package import RecordWire

/// The operations of one account over HTTP.
package final class HTTPTransport: SyncTransport {
    private let account: Account
    private let http: HTTPExchange
    private let tokens: WebTokens

    /// - Parameter tokens: those of the account, which all have in common that send for it.
    package init(_ account: Account, over http: HTTPExchange, tokens: WebTokens) {
        self.account = account
        self.http = http
        self.tokens = tokens
    }

    package func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        let (account, http) = (account, http)
        let answer = try await tokens.sign { (token) throws(SyncProblem) in
            try await http.send(
                "POST", account.url(of: operation, scope, webAuthToken: token),
                headers: [("Content-Type", "application/json")], body: .bytes(body),
                patience: HTTPExchange.patience(bytes: Int64(body.count)))
        }
        return try answer.json(of: operation)
    }

    package func upload(
        _ file: OutgoingFile, to url: String
    ) async throws(SyncProblem) -> JSONValue {
        let answer = try await http.send(
            "POST", url, headers: [("Content-Type", "application/octet-stream")],
            body: .file(file), patience: HTTPExchange.patience(bytes: file.size))
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
        let answer = try await http.send("GET", url, patience: .seconds(300))
        guard answer.status == 200 else { throw answer.problem }
        return answer.body
    }
}

extension HTTPExchange.Answer {
    /// The answer to an operation; the error that it tells is thrown.
    func json(of operation: SyncOperation) throws(SyncProblem) -> JSONValue {
        guard status == 200 else { throw problem }
        do throws(RecordError) {
            return try JSONParser.parse(body)
        } catch {
            throw .unreadable("\(operation.rawValue) was answered with what is not JSON.")
        }
    }

    /// What an answer says that is none of status 200.
    var problem: SyncProblem {
        do {
            if let error = try WireError(JSONReader(try JSONParser.parse(body))) {
                return .refused(error)
            }
        } catch {
            // A proxy's page, perhaps: its status says more.
        }
        if status == 413 {
            let code = Text(ServerErrorCode.limitExceeded.rawValue)
            return .refused(WireError(text: code, reason: "Something on the way takes less."))
        }
        return .unreadable("status \(status) without an error that says why.")
    }
}

extension Account {
    /// The address of an operation with its credentials.
    func url(
        of operation: SyncOperation, _ scope: DatabaseScope, webAuthToken: Text?
    ) -> String {
        // Where Apple's reference has the operations of devices, its service answers 405.
        let place =
            operation.isDevice
            ? "device/1/\(container)/\(environment.rawValue)"
            : "database/1/\(container)/\(environment.rawValue)/\(scope.rawValue)"
        return "\(server)/\(place)/\(operation.rawValue)?ckAPIToken=\(apiToken.percentEncoded)"
            + (webAuthToken.map { "&ckWebAuthToken=\($0.percentEncoded)" } ?? "")
    }
}
