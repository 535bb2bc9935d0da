import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

extension ResponseBody {
    /// The most bytes of a body that a connection gets at a time.
    static let partBytes = 64 << 10

    /// Returns a body in parts, so that the connection never holds much that its client has not
    /// received.
    ///
    /// A connection accepts everything it is given, and reports only afterwards, on its own thread,
    /// that its client is slow. A large body is therefore given in parts, and after each part the
    /// connection is asked how much is still waiting. By then it knows, and it takes the next part
    /// when there is room again.
    func paced(for channel: any Channel, metrics: ServerMetrics) -> ResponseBody {
        if let contentLength, contentLength <= Self.partBytes { return self }
        return ResponseBody(contentLength: contentLength) { writer in
            try await self.write(
                PacedWriter(
                    writer: writer, channel: channel, waiting: WaitingBytes(metrics: metrics)))
        }
    }
}

private struct PacedWriter: ResponseBodyWriter {
    var writer: any ResponseBodyWriter
    let channel: any Channel
    let waiting: WaitingBytes

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while let part = rest.readSlice(length: min(rest.readableBytes, ResponseBody.partBytes)),
            part.readableBytes > 0
        {
            waiting.add(part.readableBytes)
            try await writer.write(part)
            // This runs after the part has reached the channel, so after the channel may have
            // become unwritable.
            waiting.set(to: try await channel.getOption(.bufferedWritableBytes).get())
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}

/// The bytes of one answer that were handed on and that its client has not received, as far as is
/// known; for the metrics.
private final class WaitingBytes: Sendable {
    private let metrics: ServerMetrics
    private let bytes = Mutex(0)

    init(metrics: ServerMetrics) { self.metrics = metrics }

    deinit { set(to: 0) }

    func add(_ count: Int) { change { $0 + count } }
    func set(to count: Int) { change { _ in count } }

    private func change(_ next: (Int) -> Int) {
        bytes.withLock { bytes in
            let new = next(bytes)
            metrics.noteWaiting(new - bytes)
            bytes = new
        }
    }
}
