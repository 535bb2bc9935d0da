import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// Keeps the bytes that are written to it.
final class BodyCollector: Sendable {
    private let collected = Mutex<[UInt8]>([])
    var bytes: [UInt8] { collected.withLock { $0 } }
    func append(_ buffer: ByteBuffer) {
        collected.withLock { $0.append(contentsOf: buffer.readableBytesView) }
    }
}

struct BodyCollectingWriter: ResponseBodyWriter {
    let collector: BodyCollector
    mutating func write(_ buffer: ByteBuffer) async throws { collector.append(buffer) }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
