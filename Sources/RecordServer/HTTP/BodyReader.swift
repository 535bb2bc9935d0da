import Hummingbird
import NIOCore
import RecordWire
import Synchronization

/// Reads bodies of operations and forms into memory, within limits for each and for all.
final class BodyReader: Sendable {
    /// Of one body, in bytes.
    let maximumBytes: Int
    /// What all bodies that are being read may hold together, in bytes. The first part of each is
    /// free, so that nobody can lock out small requests with large ones.
    private let budget: Int
    private static let freeBytes = 64 << 10
    private let held = Atomic<Int>(0)

    init(maximumBytes: Int, budget: Int = 256 << 20) {
        self.maximumBytes = maximumBytes
        self.budget = budget
    }

    /// Errors: `limitExceeded` before the first byte where Content-Length says so, else when the
    /// limit is passed; `tryAgainLater` when too much is being read at once. What goes wrong on
    /// the connection comes through as it is.
    func read(_ request: Request, facts: RequestFacts) async throws -> [UInt8] {
        if let text = request.headers[.contentLength], let length = Int(text),
            length > maximumBytes
        {
            throw tooLarge
        }
        var body: [UInt8] = []
        var charged = 0
        defer { release(charged) }
        for try await part in request.body {
            guard body.count + part.readableBytes <= maximumBytes else { throw tooLarge }
            body.append(contentsOf: part.readableBytesView)
            facts.note { $0.bytesIn = body.count }
            let due = max(0, body.count - Self.freeBytes)
            try charge(due - charged)
            charged = due
        }
        return body
    }

    private func charge(_ bytes: Int) throws(ServerError) {
        let now = held.add(bytes, ordering: .relaxed).newValue
        guard now <= budget else {
            release(bytes)
            throw ServerError(
                .tryAgainLater, "The server is reading too many large requests.", retryAfter: 5)
        }
    }

    private func release(_ bytes: Int) { held.subtract(bytes, ordering: .relaxed) }

    private var tooLarge: ServerError {
        ServerError(
            .limitExceeded,
            "The body is larger than \(maximumBytes) bytes. Send fewer operations at once, and "
                + "large values as assets.")
    }
}
