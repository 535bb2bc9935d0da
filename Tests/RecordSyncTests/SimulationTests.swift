import Simulation
import TestSupport
import Testing

/// Histories of machines with faults, each from a seed: `scripts/simulate` runs many more of them.
@Suite struct SimulationTests {
    private static let seedsOfTest = 100

    @Test("random histories end well", arguments: LongForm.seeds(50, of: 200))
    func endWell(_ hundred: Int) async {
        let first = (hundred - 1) * Self.seedsOfTest + 1
        for seed in first..<first + Self.seedsOfTest {
            let problems = await SimulationCheck(seed: UInt64(seed)).problems()
            #expect(problems == [], "scripts/simulate --replay \(seed)")
        }
    }
}
