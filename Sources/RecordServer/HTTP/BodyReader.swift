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
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximum { throw Self.tooLarge(maximum) }
        var body: [UInt8] = []
        // One that grows is there twice while it is moved.
        let growth = length == nil ? 3 : 1
        for try await part in request.body {
            guard body.count + part.readableBytes <= maximum else { throw Self.tooLarge(maximum) }
            let count = body.count + part.readableBytes
            try hold.set(to: growth * count)
            // Of a large one not for its first bytes.
            let isLarge = length ?? 0 > MemoryBudget.freeBytes
            if let length, count > body.capacity, !isLarge || count > MemoryBudget.freeBytes {
                body.reserveCapacity(length)
            }
            body.append(contentsOf: part.readableBytesView)
            facts.note { $0.bytesIn = body.count }
        }
        guard request.headers[.contentEncoding]?.lowercased() == "gzip" else { return body }
        // Before it is known how much it is, room for all that it may be.
        try hold.set(to: min(maximum, 1_032 * body.count + 64) + body.count)
        let bytes = try Gunzip.decompress(body, maximumBytes: maximum)
        try hold.set(to: bytes.count)
        return bytes
    }

    private static func tooLarge(_ maximum: Int) -> ServerError {
        ServerError(
            .limitExceeded,
            "The body is larger than \(maximum) bytes. Send fewer operations at once, and "
                + "large values as assets.")
    }
}
