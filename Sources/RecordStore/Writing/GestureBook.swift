import RecordModel

/// The gestures that may still go on. In memory only: after a restart, each program begins another
/// gesture.
struct GestureBook: Sendable {
    /// The origin that two changes of one gesture have in common.
    struct Key: Hashable, Sendable {
        /// The program in the table of programs.
        let program: Int32
        let author: Author
        let authorName: AuthorName?
    }

    private struct Entry {
        let id: GestureID
        let session: Int32?
        var last: Timestamp
    }

    /// The number of entries above which those that have ended are dropped.
    private static let limit = 64

    private var entries: [Key: Entry] = [:]

    /// Returns the gesture that a change at that time continues.
    func running(_ key: Key, at now: Timestamp, _ caller: CallingProgram) -> GestureID? {
        if let entry = entries[key] {
            return Self.isRunning(entry, at: now, Gesture.pause) ? entry.id : nil
        }
        let former = entries.filter { other, entry in
            other.author == key.author && other.authorName == key.authorName
                && Self.isRunning(entry, at: now, Gesture.loopPause)
        }
        guard !former.isEmpty, let session = caller.session else { return nil }
        return former.first { other, entry in
            entry.session == session && !caller.table.isRunning(other.program)
        }?.value.id
    }

    /// Notes a change that was committed.
    mutating func note(
        _ id: GestureID, _ key: Key, at now: Timestamp, _ caller: CallingProgram
    ) {
        if entries[key]?.id == id {
            entries[key]?.last = now
            return
        }
        if entries.count >= Self.limit {
            entries = entries.filter { Self.isRunning($0.value, at: now, Gesture.pause) }
        }
        entries[key] = Entry(id: id, session: caller.session, last: now)
    }

    /// Ends all gestures, so that whatever comes next is another one.
    mutating func endAll() { entries.removeAll() }

    private static func isRunning(
        _ entry: Entry, at now: Timestamp, _ pause: Duration
    ) -> Bool {
        // A clock that was set back ends it too.
        now >= entry.last && now - pause <= entry.last
    }
}
