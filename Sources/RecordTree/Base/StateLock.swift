import Synchronization

/// A state with rules that hold between any two accesses.
protocol CheckedState: Sendable {
    /// The broken rules, each in words. Empty for a consistent state.
    var violations: [String] { get }
}

/// A state behind a lock, which is held for decisions in memory only.
///
/// A debug build checks the state's rules at the end of an access and stops at a broken one. It
/// checks after each of the first accesses, and then only sometimes, because a check reads the
/// whole state.
struct StateLock<State: CheckedState>: ~Copyable, Sendable {
    private struct Guarded: Sendable {
        var state: State
        var accesses: UInt64 = 0

        mutating func check() {
            #if DEBUG
            accesses &+= 1
            guard accesses <= firstAccesses || accesses % checkEvery == 0 else { return }
            let violations = state.violations
            assert(violations.isEmpty, "\(State.self): \(violations.joined(separator: "; "))")
            #endif
        }
    }

    private let guarded: Mutex<Guarded>

    init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try guarded.withLock { guarded throws(Failure) in
            defer { guarded.check() }
            return try body(&guarded.state)
        }
    }
}

/// The number of accesses each of which is checked.
private let firstAccesses: UInt64 = 128
/// The distance between two later checks: a prime, so that no pattern of accesses escapes it.
private let checkEvery: UInt64 = 251
