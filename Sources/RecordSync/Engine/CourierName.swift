import RecordModel
import Synchronization

/// What the courier of this process calls itself, which need not be told of what this process does.
final class CourierName: Sendable {
    private let name = Mutex<Text?>(nil)

    var current: Text? {
        get { name.withLock(\.self) }
        set { name.withLock { $0 = newValue } }
    }
}
