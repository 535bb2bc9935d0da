import RecordModel
import RecordWire

/// Which tokens of one session have been shown, and when: decides which are still good.
///
/// A token that is shown proves with its MAC that this server made it, so that a higher number
/// than the stored one is good: the use of its predecessor was not written down (a crash, another
/// process). A lower one is good until the grace time after its successor was first shown, so that
/// requests at the same time and lost answers do not sign a person out.
struct TokenUse: Hashable, Sendable {
    /// The newest that was shown.
    private var newest: TokenMark
    /// Some earlier ones, oldest first; at most about 32 in a grace time, however many tokens there
    /// were.
    private(set) var marks: [TokenMark]

    /// The highest number that was shown.
    var generation: Int64 { newest.generation }
    /// When it was first shown.
    var milliseconds: Int64 { newest.milliseconds }

    /// From what is stored of the session. Of a session without marks only the time of the last
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

    /// Writes it down in the row of the session.
    func store(in session: inout SessionRow) {
        session.generation = newest.generation
        session.generationMilliseconds = newest.milliseconds
        session.earlierMarks = marks
    }

    /// Whether a token with this number is good now, and notes its use. `grace` in milliseconds.
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

    /// Takes over what another process knew.
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
        // The newest of those beyond the grace time stays: it says that older ones are too old.
        let limit = mark.milliseconds - grace
        while marks.count > 1, marks[1].milliseconds < limit { marks.removeFirst() }
        newest = mark
    }
}
