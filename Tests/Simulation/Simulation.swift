import TestSupport

/// A history: some machines of an account, a record server, and what happens to them, all from one
/// number.
package struct Simulation: Sendable {
    package let seed: UInt64
    package let steps: [Step]
    private let shifts: [Duration]
    private let pageRecords: Int
    private let grace: Duration
    private let undoes: Bool

    package struct Outcome: Sendable {
        /// What is wrong; empty when nothing is.
        package let problems: [String]
        /// What happened: the same each time.
        package let trace: [String]
    }

    /// - Parameters:
    ///   - isWide: of three and four machines, several types, and clocks that are wrong.
    ///   - undoes: whether the machines take steps back, and do them again.
    package init(seed: UInt64, isWide: Bool = false, undoes: Bool = false) {
        self.seed = seed
        self.undoes = undoes
        var generator = HistoryGenerator(seed: seed, isWide: isWide, undoes: undoes)
        steps = generator.steps()
        shifts = generator.shifts
        pageRecords = generator.pageRecords
        grace = generator.grace
    }

    /// - Parameters:
    ///   - steps: other ones than those of the seed.
    ///   - shift: by which the clocks of the machines are wrong.
    package func run(_ steps: [Step]? = nil, shift: Duration = .zero) async -> Outcome {
        await Outcome(playing: steps ?? self.steps) {
            try await SimulatedWorld(
                zones: ["Box", "Cup"], pageRecords: pageRecords,
                shifts: shifts.map { $0 + shift }, grace: grace, undoes: undoes)
        }
    }
}
