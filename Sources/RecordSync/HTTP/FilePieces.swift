import Glibc
import NIOCore
import RecordModel
import RecordStore

/// The bytes of a file, for a request's body.
struct FilePieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let path: String

    func makeAsyncIterator() -> Iterator { Iterator(path: path) }

    final class Iterator: AsyncIteratorProtocol {
        private static let pieceBytes = 256 << 10
        private let path: String
        private var descriptor: Int32 = -1

        init(path: String) { self.path = path }

        deinit { if descriptor >= 0 { close(descriptor) } }

        func next() async throws(RecordError) -> ByteBuffer? {
            if descriptor < 0 {
                descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
                guard descriptor >= 0 else { throw RecordError.systemCall("open \(path)", errno) }
            }
            while true {
                var code: Int32 = 0
                let bytes = [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, count in
                    let read = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                    code = read < 0 ? errno : 0
                    count = Swift.max(read, 0)
                }
                if code == EINTR { continue }
                guard code == 0 else { throw RecordError.systemCall("read \(path)", code) }
                return bytes.isEmpty ? nil : ByteBuffer(bytes: bytes)
            }
        }
    }
}
