/// What is asked of a seed: its history ends well; of some seeds, also that it is the same when it
/// runs again, and when the clocks of all machines are wrong.
package struct SimulationCheck: Sendable {
    private static let tenYears: Duration = .seconds(10 * 365 * 86_400)
    package let simulation: Simulation

    package init(seed: UInt64, isWide: Bool = false, undoes: Bool = false) {
        simulation = Simulation(seed: seed, isWide: isWide, undoes: undoes)
    }

    /// - Parameter steps: other ones than those of the seed.
    package func problems(_ steps: [Step]? = nil) async -> [String] {
        let outcome = await simulation.run(steps)
        guard outcome.problems.isEmpty else { return outcome.problems }
        // 2 % of the seeds, and 5 %.
        if simulation.seed % 50 == 0, await simulation.run(steps).trace != outcome.trace {
            return ["It is another history when it runs again."]
        }
        guard simulation.seed % 20 == 0 else { return [] }
        // Ahead or behind.
        let shift = simulation.seed % 40 == 0 ? Self.tenYears : .zero - Self.tenYears
        let shifted = await simulation.run(steps, shift: shift)
        if let problem = shifted.problems.first { return ["Clocks shifted: \(problem)"] }
        for (line, other) in zip(outcome.trace, shifted.trace) where line != other {
            return ["With clocks shifted by \(shift) it is otherwise: \(other), not \(line)"]
        }
        return []
    }

    /// Fewer steps that go wrong, too.
    package func shortened() async -> [Step] {
        await shorten(simulation.steps) { await !problems($0).isEmpty }
    }
}

/// Fewer steps that go wrong, too: parts are left out as long as something is wrong without them
/// (Zeller, "Delta Debugging", 1999).
func shorten<Step>(_ all: [Step], isWrong: ([Step]) async -> Bool) async -> [Step] {
    var steps = all
    var size = steps.count / 2
    while size > 0 {
        var start = 0
        while start < steps.count {
            var fewer = steps
            fewer.removeSubrange(start..<min(start + size, steps.count))
            if await isWrong(fewer) {
                steps = fewer
            } else {
                start += size
            }
        }
        size /= 2
    }
    return steps
}
