import Simulation
import TestSupport
import Testing

/// Histories of machines with faults, each from a seed: `scripts/simulate` runs many more of them.
@Suite struct SimulationTests {
    @Test("random histories end well", arguments: LongForm.seeds(100, of: 5_000))
    func endWell(_ seed: Int) async {
        let problems = await SimulationCheck(seed: UInt64(seed)).problems()
        #expect(problems == [], "scripts/simulate --replay \(seed)")
    }
}
