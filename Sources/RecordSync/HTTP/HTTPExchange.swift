import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import RecordModel
import Synchronization

/// Requests over HTTP/1.1, on connections that are kept. The only file that knows the library.
package struct HTTPExchange: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        /// Names in lower case.
        package let headers: [(name: String, value: String)]
        package let body: [UInt8]

        package subscript(name: String) -> String? {
            headers.first { $0.name == name.lowercased() }?.value
        }
    }

    /// A page of a feed may be long; nothing that is longer was asked for.
    private static let largestAnswer = 256 << 20

    /// What a request brings.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])
        case file(OutgoingFile)
    }

    /// One for the process and each authority that is trusted, which live as long as the process: what
    /// is under way ends with its task.
    private static let clients = Mutex<[String: HTTPClient]>([:])

    private let client: HTTPClient

    private static func makeClient(authority: String?) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        // Short: who is online again while one waits is not seen by it.
        configuration.timeout.connect = .seconds(4)
        configuration.http1_1ConnectionDebugInitializer = { channel in watchPath(of: channel) }
        // Who asks knows whether and when to ask again; a server that refuses is told of at once.
        configuration.connectionPool.retryConnectionEstablishment = false
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.file(authority)]
            configuration.tlsConfiguration = tls
        }
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }

    /// A connection whose other end is not heard of is over after seconds, and not after the minutes of the
    /// system: a poll waits on it in silence, and a request would wait for it after the path is back.
    private static func watchPath(of channel: any Channel) -> EventLoopFuture<Void> {
        let options: [(level: NIOBSDSocket.OptionLevel, name: CInt, value: Int)] = [
            (.socket, SO_KEEPALIVE, 1), (.tcp, TCP_KEEPIDLE, 8), (.tcp, TCP_KEEPINTVL, 2),
            (.tcp, TCP_KEEPCNT, 2), (.tcp, tcpUserTimeout, 12_000),
        ]
        let set = options.map { option in
            channel.setOption(
                ChannelOptions.Types.SocketOption(
                    level: option.level, name: NIOBSDSocket.Option(rawValue: option.name)),
                value: option.value)
        }
        // Where there is no such option, a connection is as good without.
        return EventLoopFuture.andAllComplete(set, on: channel.eventLoop)
    }

    /// TCP_USER_TIMEOUT of <linux/tcp.h>, in milliseconds.
    private static let tcpUserTimeout: CInt = 18

    /// How long the bytes of an asset, or of a request, may take: 16 KiB a second are waited for.
    static func patience(bytes: Int64) -> Duration { .seconds(60 + bytes >> 14) }

    /// - Parameter authority: a file with the certificates, as PEM, of authorities that are trusted
    ///   besides those of the system.
    package init(authority: String? = nil) {
        client = Self.clients.withLock { clients in
            if let known = clients[authority ?? ""] { return known }
            let client = Self.makeClient(authority: authority)
            clients[authority ?? ""] = client
            return client
        }
    }

    /// The certificates of a file, for a store to trust. Errors: `invalidArgument` when it has none.
    package static func checkAuthority(_ path: String) throws(RecordError) {
        do {
            guard try !NIOSSLCertificate.fromPEMFile(path).isEmpty else {
                throw RecordError(.invalidArgument, "has no certificate.")
            }
        } catch let error as RecordError {
            throw error
        } catch {
            throw RecordError(
                .invalidArgument,
                "is no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----.")
        }
    }

    /// In words that a user can act on.
    private static func unreachable(_ error: any Error) -> SyncProblem {
        guard error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError else {
            return .unreachable("\(error)")
        }
        guard error is NIOSSLExtraError || "\(error)".contains("CERTIFICATE_VERIFY_FAILED") else {
            return .unreachable(
                "no secure connection: what answers there does not speak TLS as this machine does. "
                    + "(\(error))")
        }
        return .unreachable(
            "no secure connection: the server's certificate is of an authority that this machine "
                + "does not trust, of another name, or no longer valid. For an authority of your "
                + "own: recordfs login --ca-file FILE.")
    }

    /// - Parameter patience: for all of it, up to the last byte of the answer.
    /// - Throws: unreachable, when there is no whole answer.
    package func send(
        _ method: String, _ url: String, headers: [(String, String)] = [], body: Body = .none,
        patience: Duration = .seconds(60)
    ) async throws(SyncProblem) -> Answer {
        let final = Self.request(method, url, headers, body)
        let client = client
        do {
            return try await Self.within(patience) {
                let response = try await client.execute(final, timeout: .hours(1))
                let bytes = try await response.body.collect(upTo: Self.largestAnswer)
                return Answer(
                    status: Int(response.status.code),
                    headers: response.headers.map { ($0.name.lowercased(), $0.value) },
                    body: Array(bytes.readableBytesView))
            }
        } catch {
            throw Self.unreachable(error)
        }
    }

    /// The body of an answer, piece by piece; `take` says whether it wants more.
    ///
    /// - Parameter bytes: at most so many are waited for.
    /// - Throws: unreachable, when the answer breaks off; what `take` throws, as `store`.
    /// - Returns: nil for status 200 and 206; else the whole answer, of which nothing was taken.
    package func receive(
        _ url: String, headers: [(String, String)] = [], bytes: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) -> Answer? {
        let final = Self.request("GET", url, headers, .none)
        let client = client
        do {
            return try await Self.within(Self.patience(bytes: bytes)) {
                let response = try await client.execute(final, timeout: .hours(24))
                let status = Int(response.status.code)
                guard status == 200 || status == 206 else {
                    let bytes = try await response.body.collect(upTo: Self.largestAnswer)
                    return Answer(
                        status: status, headers: [], body: Array(bytes.readableBytesView))
                }
                for try await piece in response.body {
                    guard try await take(Array(piece.readableBytesView)) else { break }
                }
                return nil
            }
        } catch let error as RecordError {
            throw .store(error)
        } catch {
            throw Self.unreachable(error)
        }
    }

    private static func request(
        _ method: String, _ url: String, _ headers: [(String, String)], _ body: Body
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        switch body {
        case .none: break
        case .bytes(let bytes): request.body = .bytes(bytes)
        case .file(let file):
            request.body = .stream(FilePieces(path: file.path), length: .known(file.size))
        }
        return request
    }

    private struct TimedOut: Error, CustomStringConvertible {
        let description = "no whole answer came in time"
    }

    /// The client's own limit ends with the head of an answer, and a network can go away behind it.
    private static func within<Result: Sendable>(
        _ patience: Duration, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: patience)
                throw TimedOut()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw TimedOut() }
            return result
        }
    }
}
