import TestSupport

/// A history: some machines of an account, a record server, and what happens to them, all from one
/// number.
package struct Simulation: Sendable {
    package let seed: UInt64
    package let steps: [Step]
    private let devices: Int
    private let pageRecords: Int

    package struct Outcome: Sendable {
        /// What is wrong; empty when nothing is.
        package let problems: [String]
        /// What happened: the same each time.
        package let trace: [String]
    }

    package init(seed: UInt64) {
        self.seed = seed
        var generator = HistoryGenerator(seed: seed)
        steps = generator.steps()
        devices = generator.devices
        pageRecords = generator.pageRecords
    }

    /// - Parameters:
    ///   - steps: other ones than those of the seed.
    ///   - shift: by which the clocks of the machines are wrong.
    package func run(_ steps: [Step]? = nil, shift: Duration = .zero) async -> Outcome {
        await TemporaryDirectory.$areInMemory.withValue(true) {
            await run(steps ?? self.steps, shift)
        }
    }

    private func run(_ steps: [Step], _ shift: Duration) async -> Outcome {
        do {
            let world = try await SimulatedWorld(
                devices: devices, zones: ["Box", "Cup"], pageRecords: pageRecords, shift: shift)
            do {
                for step in steps {
                    try await world.perform(step)
                    let problems = await world.takeProblems()
                    guard problems.isEmpty else {
                        return Outcome(
                            problems: problems.map { "At step \(step.number): \($0)" },
                            trace: await world.trace)
                    }
                }
                let problems = try await world.finish()
                return Outcome(problems: problems, trace: await world.trace)
            } catch {
                return Outcome(problems: ["An error: \(error)"], trace: await world.trace)
            }
        } catch {
            return Outcome(problems: ["No world: \(error)"], trace: [])
        }
    }
}
