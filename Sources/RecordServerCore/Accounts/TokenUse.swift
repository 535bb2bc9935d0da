import RecordModel
import RecordWire

/// The tokens of one session that have been shown, with the times. It decides which tokens are
/// still valid.
///
/// The MAC of a token proves that this server made it, so a number higher than the stored one is
/// valid: the use of its predecessor was not stored (because of a crash, or another process). A
/// lower number is valid until the grace time after its successor was first shown, so that
/// simultaneous requests and lost answers do not sign a person out.
struct TokenUse: Hashable, Sendable {
    /// The newest token that was shown.
    private var newest: TokenMark
    /// Some earlier ones, oldest first. There are at most about 32 in a grace time, however many
    /// tokens there were.
    private(set) var marks: [TokenMark]

    /// The highest number that was shown.
    var generation: Int64 { newest.generation }
    /// The time at which it was first shown.
    var milliseconds: Int64 { newest.milliseconds }

    /// Reads the row of the session. For a session without marks, only the time of the last
    /// predecessor is known.
    init(_ session: SessionRow) {
        newest = TokenMark(
            generation: session.generation, milliseconds: session.generationMilliseconds)
        marks = session.earlierMarks
        if marks.isEmpty {
            marks = [TokenMark(generation: session.generation - 1, milliseconds: .min)]
        }
    }

    private init(oldest: TokenMark) {
        newest = oldest
        marks = []
    }

    /// Stores the use in the row of the session.
    func store(in session: inout SessionRow) {
        session.generation = newest.generation
        session.generationMilliseconds = newest.milliseconds
        session.earlierMarks = marks
    }

    /// Returns whether a token with this number is valid now, and notes its use. `grace` is in
    /// milliseconds.
    mutating func accept(_ shown: Int64, at now: Int64, grace: Int64) -> Bool {
        if shown > generation {
            advance(to: TokenMark(generation: shown, milliseconds: now), grace: grace)
            return true
        }
        if shown == generation { return true }
        // The successor was shown at this time or, between two marks, a little earlier.
        let successorShown =
            marks.first { $0.generation > shown }?.milliseconds ?? milliseconds
        return successorShown != .min && now - successorShown <= grace
    }

    /// Takes over the uses that another process knew.
    mutating func merge(_ other: TokenUse, grace: Int64) {
        guard other.generation > generation else { return }
        let all = (marks + other.marks + [newest, other.newest]).sorted {
            ($0.generation, $0.milliseconds) < ($1.generation, $1.milliseconds)
        }
        guard let oldest = all.first else { return }
        var merged = TokenUse(oldest: oldest)
        for mark in all where mark.generation > merged.generation {
            merged.advance(to: mark, grace: grace)
        }
        self = merged
    }

    private mutating func advance(to mark: TokenMark, grace: Int64) {
        let isFarFromLast = marks.last.map { last in
            last.milliseconds == .min || milliseconds - last.milliseconds >= grace / 32
        }
        if isFarFromLast ?? true { marks.append(newest) }
        // The newest mark beyond the grace time stays, because it shows that older tokens are too
        // old.
        let limit = mark.milliseconds - grace
        while marks.count > 1, marks[1].milliseconds < limit { marks.removeFirst() }
        newest = mark
    }
}
