import RecordModel
import Synchronization

/// What is known of the mirrored types of the public database since the process began: which
/// changes were seen, and when all of it is compared again.
final class PublicTypes: Sendable {
    struct Known: Sendable {
        /// When the server says that the newest record seen was modified; nil where its schema has no
        /// index to ask by.
        var mark: Timestamp?
        var nextComparison: ContinuousClock.Instant
    }

    private let known = Mutex<[RecordTypeName: Known]>([:])

    /// Nil when all of it has to be compared: what is gone, only that finds.
    subscript(type: RecordTypeName) -> Known? {
        get {
            known.withLock { known in
                guard let type = known[type], type.nextComparison > .now else { return nil }
                return type
            }
        }
        set { known.withLock { $0[type] = newValue } }
    }

    /// Somebody wants to know now.
    func compareSoon() { known.withLock { $0 = [:] } }
}
