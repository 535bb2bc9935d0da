import RecordModel
import Synchronization

/// The name of this process's courier at the server. The server need not notify this courier of
/// changes that this process has made.
final class CourierName: Sendable {
    private let name = Mutex<Text?>(nil)

    var current: Text? {
        get { name.withLock(\.self) }
        set { name.withLock { $0 = newValue } }
    }
}
