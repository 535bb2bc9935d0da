import Synchronization

/// A state with rules that hold between any two accesses.
protocol CheckedState: Sendable {
    /// The broken rules, each in words. Empty for a consistent state.
    var violations: [String] { get }
    /// The number of things that a check reads, roughly.
    var size: Int { get }
}

/// A state behind a lock, which is held for decisions in memory only.
///
/// A debug build checks the state's rules at the end of an access and stops at a broken one. It
/// checks after each of the first accesses, and then only sometimes, the less often the larger the
/// state is: a check reads the whole state.
struct StateLock<State: CheckedState>: ~Copyable, Sendable {
    private let guarded: Mutex<GuardedState<State>>

    init(_ state: State) { guarded = Mutex(GuardedState(state)) }

    func withLock<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try guarded.withLock { guarded throws(Failure) in
            defer { guarded.check() }
            return try body(&guarded.state)
        }
    }
}

/// A state with the number of its accesses. (No private type of the lock: Swift 6.3 then makes a
/// module that its own verifier refuses.)
struct GuardedState<State: CheckedState>: Sendable {
    var state: State
    #if DEBUG
    var accesses = 0
    var nextCheck = 1
    #endif

    init(_ state: State) { self.state = state }

    mutating func check() {
        #if DEBUG
        accesses += 1
        guard accesses >= nextCheck else { return }
        nextCheck = accesses + (accesses < firstAccesses ? 1 : max(pause, 4 * state.size))
        let violations = state.violations
        assert(violations.isEmpty, "\(State.self): \(violations.joined(separator: "; "))")
        #endif
    }
}

/// The number of accesses each of which is checked.
private let firstAccesses = 128
/// The smallest number of accesses from one later check to the next: a prime, so that no pattern of
/// accesses escapes the checks.
private let pause = 251
