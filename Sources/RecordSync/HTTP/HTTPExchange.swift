import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix

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

    /// One for the process, which it lives as long as: what is under way ends with its task.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        return HTTPClient(
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: configuration)
    }()

    package init() {}

    /// - Parameter patience: for all of it, up to the last byte of the answer.
    /// - Throws: unreachable, when there is no whole answer.
    package func send(
        _ method: String, _ url: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
        patience: Duration = .seconds(60)
    ) async throws(SyncProblem) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let final = request
        do {
            return try await Self.within(patience) {
                let response = try await Self.client.execute(final, timeout: .hours(1))
                let bytes = try await response.body.collect(upTo: Self.largestAnswer)
                return Answer(
                    status: Int(response.status.code),
                    headers: response.headers.map { ($0.name.lowercased(), $0.value) },
                    body: Array(bytes.readableBytesView))
            }
        } catch {
            throw .unreachable("\(error)")
        }
    }

    private struct TimedOut: Error, CustomStringConvertible {
        let description = "no whole answer came in time"
    }

    /// The client's own limit ends with the head of an answer, and a network can go away behind it.
    private static func within(
        _ patience: Duration, _ body: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else { throw TimedOut() }
            return answer
        }
    }
}
