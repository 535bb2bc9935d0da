import RecordModel
import Synchronization

/// The state of the mirrored types of the public database since the process began: the changes that
/// were seen, and the time of the next comparison.
final class PublicTypes: Sendable {
    struct Known: Sendable {
        /// The time when the newest record seen was modified, by the server's clock. Nil where the
        /// schema has no index for the question.
        var mark: Timestamp?
        var nextComparison: ContinuousClock.Instant
    }

    private let known = Mutex<[RecordTypeName: Known]>([:])

    /// The state of a type. Nil when all of it has to be compared: only a comparison finds deleted
    /// records.
    subscript(type: RecordTypeName) -> Known? {
        get {
            known.withLock { known in
                guard let type = known[type], type.nextComparison > .now else { return nil }
                return type
            }
        }
        set { known.withLock { $0[type] = newValue } }
    }

    /// Makes comparisons due now.
    func compareSoon() { known.withLock { $0 = [:] } }
}
