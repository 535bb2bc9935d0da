package import RecordModel
package import RecordWire
import Synchronization

/// The operations of one account over HTTP.
///
/// Each answer brings the next web auth token. One is good until some time after the next was first
/// shown: so a token is written down before it is shown, and not each one is taken.
package final class HTTPTransport: SyncTransport {
    /// Writes a token down, and says then whether it could.
    package typealias Keeper = @Sendable (Text, @escaping @Sendable (Bool) -> Void) -> Void

    /// Between two tokens that are taken.
    private static let tokenLife = Duration.seconds(60)

    private let account: Account
    private let http: HTTPExchange
    private let keep: Keeper
    private let current: Mutex<Current>

    private struct Current {
        var token: Text
        var isChanging = false
        var lastChange: ContinuousClock.Instant?
    }

    package init(_ account: Account, over http: HTTPExchange, keep: @escaping Keeper) {
        self.account = account
        self.http = http
        self.keep = keep
        current = Mutex(Current(token: account.webAuthToken))
    }

    package func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        let token = current.withLock(\.token)
        let url = account.url(of: operation, scope, webAuthToken: token)
        let answer = try await http.send(
            "POST", url, headers: [("Content-Type", "application/json")], body: .bytes(body),
            patience: HTTPExchange.patience(bytes: Int64(body.count)))
        if let next = answer["X-Apple-CloudKit-Web-Auth-Token"] { take(Text(next), after: token) }
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

    /// The answer to a request that showed another token than the current one brings an older one.
    private func take(_ next: Text, after shown: Text) {
        let isTaken = current.withLock { current in
            let isDue = current.lastChange.map { $0.duration(to: .now) > Self.tokenLife } ?? true
            guard isDue, !current.isChanging, shown == current.token, next != shown else {
                return false
            }
            current.isChanging = true
            return true
        }
        guard isTaken else { return }
        keep(next) { [weak self] isKept in
            self?.current.withLock { current in
                current.isChanging = false
                current.lastChange = .now
                if isKept { current.token = next }
            }
        }
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
        "\(server)/database/1/\(container)/\(environment.rawValue)/\(scope.rawValue)/"
            + "\(operation.rawValue)?ckAPIToken=\(apiToken.percentEncoded)"
            + (webAuthToken.map { "&ckWebAuthToken=\($0.percentEncoded)" } ?? "")
    }
}
