import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordServerCore
import RecordWire

/// Reads bodies of operations into memory, within limits for each body and for all together.
struct BodyReader: Sendable {
    /// The most bytes of one body.
    let maximumBytes: Int
    /// The most bytes of a body from a caller without a user, who needs only short requests.
    let maximumAnonymousBytes: Int

    /// Reads a body. Errors: `limitExceeded` before the first byte when Content-Length says so,
    /// otherwise when the limit is passed; `tryAgainLater` when the server holds too much at once.
    /// Errors of the connection are passed on unchanged.
    func read(
        _ request: Request, isAnonymous: Bool, hold: MemoryHold, facts: RequestFacts
    ) async throws -> [UInt8] {
        let maximum =
            isAnonymous ? min(maximumBytes, maximumAnonymousBytes) : maximumBytes
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximum { throw Self.tooLarge(maximum) }
        var body: [UInt8] = []
        // A body that grows exists twice while it is moved.
        let growth = length == nil ? 3 : 1
        for try await part in request.body {
            guard body.count + part.readableBytes <= maximum else { throw Self.tooLarge(maximum) }
            let count = body.count + part.readableBytes
            try hold.set(to: growth * count)
            // Do not reserve the room of a large body for its first bytes.
            let isLarge = length ?? 0 > MemoryBudget.freeBytes
            if let length, count > body.capacity, !isLarge || count > MemoryBudget.freeBytes {
                body.reserveCapacity(length)
            }
            body.append(contentsOf: part.readableBytesView)
            facts.note { $0.bytesIn = body.count }
        }
        guard request.headers[.contentEncoding]?.lowercased() == "gzip" else { return body }
        // The size is not known yet, so hold room for the largest possible one.
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
