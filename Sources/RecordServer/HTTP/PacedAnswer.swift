import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

extension ResponseBody {
    /// What a connection is given of a body at a time, in bytes.
    static let partBytes = 64 << 10

    /// The same body, of which the connection never holds much that its client has not taken.
    ///
    /// A connection takes all that it is given, and says only afterwards, on its own thread, that
    /// its client is slow. So a large body is given in parts, and after each the connection is asked
    /// how much of it waits: by then it knows, and takes the next part when there is room again.
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
            // Runs after the part has reached the channel, and so after the channel has become
            // unwritable if it has.
            waiting.set(to: try await channel.getOption(.bufferedWritableBytes).get())
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}

/// What one answer has handed on and its client has not taken, as far as is known; for the metrics.
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
