/// Which tokens of one session have been shown, and when: decides which are still good.
///
/// A token that is shown proves with its MAC that this server made it, so that a higher number
/// than the stored one is good: the use of its predecessor was not written down (a crash, another
/// process). A lower one is good until the grace time after its successor was first shown, so that
/// requests at the same time and lost answers do not sign a person out.
struct TokenUse: Hashable, Sendable {
    private struct Mark: Hashable, Sendable {
        let generation: Int64
        let milliseconds: Int64
    }

    /// The highest number that was shown.
    private(set) var generation: Int64
    /// When it was first shown.
    private(set) var milliseconds: Int64
    /// Some earlier numbers with the time when they were first shown, oldest first; at most about
    /// 32 in a grace time, however many tokens there were.
    private var marks: [Mark]

    /// From what is stored of the session, where only the last predecessor's time is known.
    init(generation: Int64, milliseconds: Int64) {
        self.generation = generation
        self.milliseconds = milliseconds
        marks = [Mark(generation: generation - 1, milliseconds: .min)]
    }

    /// Whether a token with this number is good now, and notes its use. `grace` in milliseconds.
    mutating func accept(_ shown: Int64, at now: Int64, grace: Int64) -> Bool {
        if shown > generation {
            advance(to: shown, at: now, grace: grace)
            return true
        }
        if shown == generation { return true }
        // The successor was shown at this time or, between two marks, a little earlier.
        let successorShown =
            marks.first { $0.generation > shown }?.milliseconds ?? milliseconds
        return successorShown != .min && now - successorShown <= grace
    }

    /// Takes over what another process wrote down.
    mutating func merge(generation stored: Int64, milliseconds: Int64, grace: Int64) {
        guard stored > generation else { return }
        advance(to: stored, at: milliseconds, grace: grace)
    }

    private mutating func advance(to shown: Int64, at now: Int64, grace: Int64) {
        if let last = marks.last,
            last.milliseconds == .min
                || milliseconds - last.milliseconds >= grace / 32
        {
            marks.append(Mark(generation: generation, milliseconds: milliseconds))
        }
        // The newest of those beyond the grace time stays: it says that older ones are too old.
        while marks.count > 1, marks[1].milliseconds < now - grace { marks.removeFirst() }
        generation = shown
        milliseconds = now
    }
}
