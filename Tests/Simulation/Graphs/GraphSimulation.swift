import TestSupport

/// A history of machines of an account that edit a graph of objects with a model, all from one number.
package struct GraphSimulation: Sendable {
    package let seed: UInt64
    package let steps: [GraphStep]
    private let devices: Int
    private let pageRecords: Int

    package init(seed: UInt64) {
        self.seed = seed
        var generator = GraphGenerator(seed: seed)
        steps = generator.steps()
        devices = generator.devices
        pageRecords = generator.pageRecords
    }

    /// - Parameter steps: other ones than those of the seed.
    package func run(_ steps: [GraphStep]? = nil) async -> Simulation.Outcome {
        await Simulation.Outcome(playing: steps ?? self.steps) {
            try await GraphWorld(devices: devices, pageRecords: pageRecords)
        }
    }

    /// Returns what is wrong at the end.
    /// - Parameter steps: other ones than those of the seed.
    package func problems(_ steps: [GraphStep]? = nil) async -> [String] {
        await run(steps).problems
    }

    /// Fewer steps that go wrong, too.
    package func shortened() async -> [GraphStep] {
        await shorten(steps) { await !problems($0).isEmpty }
    }
}
