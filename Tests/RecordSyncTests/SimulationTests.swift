import Simulation
import TestSupport
import Testing

/// Histories of machines with faults, each from a seed: `scripts/simulate` runs many more of them.
@Suite struct SimulationTests {
    private static let seedsOfTest = 100

    // Two tests, for a process each: two histories at a time wait for each other in one (its memory,
    // its threads), and not in two.

    @Test("random histories of the odd hundreds end well", arguments: LongForm.seeds(25, of: 100))
    func odd(_ pair: Int) async { await endWell(2 * pair - 1) }

    @Test("random histories of the even hundreds end well", arguments: LongForm.seeds(25, of: 100))
    func even(_ pair: Int) async { await endWell(2 * pair) }

    private func endWell(_ hundred: Int) async {
        let first = (hundred - 1) * Self.seedsOfTest + 1
        for seed in first..<first + Self.seedsOfTest {
            let problems = await SimulationCheck(seed: UInt64(seed)).problems()
            #expect(problems == [], "scripts/simulate --replay \(seed)")
        }
    }
}
