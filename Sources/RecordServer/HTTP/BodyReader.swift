import Hummingbird
import NIOCore
import RecordWire

/// Reads bodies of operations into memory, within limits for each and for all.
struct BodyReader: Sendable {
    /// Of one body, in bytes.
    let maximumBytes: Int
    /// The same for callers without a user, who only ask for little.
    let maximumAnonymousBytes: Int

    /// Errors: `limitExceeded` before the first byte where Content-Length says so, else when the
    /// limit is passed; `tryAgainLater` when too much is held at once. What goes wrong on the
    /// connection comes through as it is.
    func read(
        _ request: Request, isAnonymous: Bool, hold: MemoryHold, facts: RequestFacts
    ) async throws -> [UInt8] {
        let maximum =
            isAnonymous ? min(maximumBytes, maximumAnonymousBytes) : maximumBytes
        if let text = request.headers[.contentLength], let length = Int(text), length > maximum {
            throw Self.tooLarge(maximum)
        }
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= maximum else { throw Self.tooLarge(maximum) }
            try hold.set(to: body.count + part.readableBytes)
            body.append(contentsOf: part.readableBytesView)
            facts.note { $0.bytesIn = body.count }
        }
        return body
    }

    private static func tooLarge(_ maximum: Int) -> ServerError {
        ServerError(
            .limitExceeded,
            "The body is larger than \(maximum) bytes. Send fewer operations at once, and "
                + "large values as assets.")
    }
}
