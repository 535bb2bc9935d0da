import TestSupport

/// A history: some machines of an account, a record server, and what happens to them, all from one
/// number.
package struct Simulation: Sendable {
    package let seed: UInt64
    package let steps: [Step]
    private let shifts: [Duration]
    private let pageRecords: Int
    private let grace: Duration

    package struct Outcome: Sendable {
        /// What is wrong; empty when nothing is.
        package let problems: [String]
        /// What happened: the same each time.
        package let trace: [String]
    }

    /// - Parameter isWide: of three and four machines, several types, and clocks that are wrong.
    package init(seed: UInt64, isWide: Bool = false) {
        self.seed = seed
        var generator = HistoryGenerator(seed: seed, isWide: isWide)
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
                shifts: shifts.map { $0 + shift }, grace: grace)
        }
    }
}
