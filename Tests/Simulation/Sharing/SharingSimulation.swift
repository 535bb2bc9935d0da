import TestSupport

/// A history of several users: an owner shares a zone, or records with what hangs on them, others have
/// them, lose them and get them again; all from one number.
package struct SharingSimulation: Sendable {
    package let seed: UInt64
    package let steps: [SharingStep]
    private let generator: SharingGenerator

    package init(seed: UInt64) {
        self.seed = seed
        var generator = SharingGenerator(seed: seed)
        steps = generator.steps()
        self.generator = generator
    }

    /// - Parameter steps: other ones than those of the seed.
    package func run(_ steps: [SharingStep]? = nil) async -> Simulation.Outcome {
        await Simulation.Outcome(playing: steps ?? self.steps) {
            try await SharingWorld(
                users: generator.users, shifts: generator.shifts, zones: generator.zones,
                pageRecords: generator.pageRecords)
        }
    }
}

/// What is asked of a seed: its history ends well; of some seeds, also that it is the same when it runs
/// again.
package struct SharingCheck: Sendable {
    package let simulation: SharingSimulation

    package init(seed: UInt64) { simulation = SharingSimulation(seed: seed) }

    /// - Parameter steps: other ones than those of the seed.
    package func problems(_ steps: [SharingStep]? = nil) async -> [String] {
        let outcome = await simulation.run(steps)
        guard outcome.problems.isEmpty else { return outcome.problems }
        // 2 % of the seeds.
        if simulation.seed % 50 == 0, await simulation.run(steps).trace != outcome.trace {
            return ["It is another history when it runs again."]
        }
        return []
    }

    /// Fewer steps that go wrong, too.
    package func shortened() async -> [SharingStep] {
        await shorten(simulation.steps) { await !problems($0).isEmpty }
    }
}
