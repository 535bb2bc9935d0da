package import RecordModel

/// The changes of one go, as `recordfs log` lists it: a gesture, or one transaction of what came
/// from elsewhere and of the store's own work.
package struct LogEntry: Sendable {
    /// The number of records of each kind of change.
    package struct Counts: Hashable, Sendable {
        package internal(set) var made = 0
        package internal(set) var changed = 0
        package internal(set) var removed = 0

        package var all: Int { made + changed + removed }

        mutating func add(_ kind: ChangeKind) {
            switch kind {
            case .created: made += 1
            case .deleted, .waiting: removed += 1
            default: changed += 1
            }
        }
    }

    /// A version that the entry has made, or a deletion that waits.
    package struct Change: Hashable, Sendable {
        package let place: RecordPlace
        /// The token of the version. Nil while a deletion waits.
        package let token: Int64?
        package let kind: ChangeKind
        package let fields: [FieldName]
    }

    /// The gesture, for what a program has done here.
    package let gesture: Gesture?
    /// Indicates whether an undo has taken it back.
    package let isUndone: Bool
    /// Indicates whether the gesture is an undo. A redo takes back an undo.
    package let isUndo: Bool
    /// The time of its first change.
    package let at: Timestamp
    package let author: Author
    package let program: AuthorName?
    /// The token of its last version: after it, everything was as the entry has left it. Nil while
    /// all that it has done is deletions that wait.
    package internal(set) var token: Int64?
    /// The changes, the last one first.
    package internal(set) var changes: [Change] = []
    package internal(set) var counts = Counts()

    /// The author as commands show it: the program, or the way in which the change came.
    package var shownAuthor: String { gesture?.shownAuthor ?? program?.text ?? author.rawValue }
}

/// The entries of the log that are wanted.
package struct LogQuery: Sendable {
    /// Only changes below this place.
    package var scope = RestoreScope()
    /// Only changes of these records.
    package var records: Set<RecordKey>?
    /// Only what came after this version or time.
    package var since = RestorePoint.token(0)
    /// Only what came up to this version or time.
    package var until: RestorePoint?
    /// Only changes of this author: a program's name, or one of `Author`.
    package var author: String?
    /// The largest number of entries.
    package var limit = Int.max

    package init() {}
}
