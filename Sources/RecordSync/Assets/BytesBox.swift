import RecordModel
import Synchronization

/// Bytes that arrive in pieces.
final class BytesBox: Sendable {
    private let gathered = Mutex<[UInt8]>([])

    var bytes: [UInt8] { gathered.withLock(\.self) }

    /// Adds a piece and returns the number of bytes after that.
    func append(_ piece: [UInt8]) -> Int {
        gathered.withLock { bytes in
            bytes += piece
            return bytes.count
        }
    }
}
