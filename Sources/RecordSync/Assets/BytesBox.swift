import RecordModel
import Synchronization

/// Bytes that come in pieces.
final class BytesBox: Sendable {
    private let gathered = Mutex<[UInt8]>([])

    var bytes: [UInt8] { gathered.withLock(\.self) }

    /// How many there are then.
    func append(_ piece: [UInt8]) -> Int {
        gathered.withLock { bytes in
            bytes += piece
            return bytes.count
        }
    }
}
