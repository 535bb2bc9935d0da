import RecordModel

/// The times of TYPE directories that are newer than their rows.
///
/// Each save that adds or removes an entry changes its directory. If each also wrote the row of the
/// type, a page more would go into the log: a fifth of what a removal costs. So while entries come
/// and go quickly, the third change within `delay` of a written one, and all that follow, stay
/// here. Before that the row is marked (`is_busy`), so that a process that ends without writing them
/// leaves no time behind that is too old: the next opening gives marked directories its own time
/// (`StoreUpkeep.correctLeftDirectoryTimes`).
///
/// The entries change only after a commit, on the writer's queue.
struct DirectoryTimes: Sendable {
    /// The times of one directory.
    struct Times: Sendable, Equatable {
        var modified: Timestamp
        /// `st_ctime`.
        var changed: Timestamp
    }

    /// The effect of one transaction on the times of a directory.
    enum Touch: Sendable {
        /// Its row has these times now.
        case written(Times, isMarked: Bool)
        /// Its row stays as it is, and these times are only here.
        case deferred(Times)
        /// Somebody has set the time of its row.
        case set
    }

    private struct Entry {
        /// The time of the last write of the row.
        var written: Timestamp
        var isMarked: Bool
        var times: Times
    }

    /// The time during which a directory's changes stay here after its row was written.
    private static let delay: Duration = .seconds(1)

    private var entries: [TypeID: Entry] = [:]

    /// The way in which a change at `now` is noted.
    enum Plan: Equatable {
        case write(marks: Bool)
        case remember
    }

    func plan(_ type: TypeID, at now: Timestamp) -> Plan {
        guard let entry = entries[type], isRecent(entry, at: now) else {
            return .write(marks: false)
        }
        return entry.isMarked ? .remember : .write(marks: true)
    }

    func times(of type: TypeID) -> Times? { entries[type]?.times }

    private func isRecent(_ entry: Entry, at now: Timestamp) -> Bool {
        now >= entry.written && now - entry.written < Self.delay
    }

    /// Notes what a transaction has done, after its commit.
    mutating func note(_ touch: Touch, _ type: TypeID) {
        switch touch {
        case .written(let times, let isMarked):
            entries[type] = Entry(written: times.modified, isMarked: isMarked, times: times)
        case .deferred(let times): entries[type]?.times = times
        case .set: entries[type] = nil
        }
    }

    /// Returns the times of the marked directories whose last write is older than `delay`, or of
    /// all marked ones.
    func due(at now: Timestamp?) -> [TypeID: Times] {
        entries.filter { _, entry in
            entry.isMarked && !(now.map { isRecent(entry, at: $0) } ?? false)
        }.mapValues(\.times)
    }

    /// Forgets directories whose rows have these times now, or were not marked for a while.
    mutating func forget(_ written: [TypeID: Times], at now: Timestamp) {
        entries = entries.filter { type, entry in
            written[type] != entry.times && (entry.isMarked || isRecent(entry, at: now))
        }
    }

    /// Returns a type, which was read after `self`, with its latest times.
    func latest(_ type: TypeInfo) -> TypeInfo {
        guard let times = entries[type.id]?.times, times.changed > type.statusChanged else {
            return type
        }
        var type = type
        (type.modified, type.statusChanged) = (times.modified, times.changed)
        return type
    }
}
