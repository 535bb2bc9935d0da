import Simulation
import TestSupport
import Testing

/// Histories of machines with faults, each from a seed: `scripts/simulate` runs many more of them.
@Suite struct SimulationTests {
    private static let seedsOfTest = 100

    // Two tests, for a process each: two histories at a time wait for each other in one (its memory,
    // its threads), and not in two.

    @Test("random histories of the odd hundreds end well", arguments: LongForm.seeds(12, of: 100))
    func odd(_ pair: Int) async { await endWell(2 * pair - 1) }

    @Test("random histories of the even hundreds end well", arguments: LongForm.seeds(12, of: 100))
    func even(_ pair: Int) async { await endWell(2 * pair) }

    @Test(
        "random histories of three and four machines, with several types and wrong clocks, end well",
        arguments: LongForm.seeds(5, of: 50))
    func wide(_ hundred: Int) async {
        for seed in Self.seeds(of: hundred) {
            let problems = await SimulationCheck(seed: UInt64(seed), isWide: true).problems()
            #expect(problems == [], "scripts/simulate --wide --replay \(seed)")
        }
    }

    @Test(
        "random histories of machines that take their steps back end well",
        arguments: LongForm.seeds(3, of: 50))
    func undoing(_ hundred: Int) async {
        for seed in Self.seeds(of: hundred) {
            let problems = await SimulationCheck(seed: UInt64(seed), undoes: true).problems()
            #expect(problems == [], "scripts/simulate --undo --replay \(seed)")
        }
    }

    @Test("random histories of users who share end well", arguments: LongForm.seeds(5, of: 50))
    func sharing(_ hundred: Int) async {
        for seed in Self.seeds(of: hundred) {
            let problems = await SharingCheck(seed: UInt64(seed)).problems()
            #expect(problems == [], "scripts/simulate --sharing --replay \(seed)")
        }
    }

    @Test(
        "random histories of machines that edit a graph of objects end well",
        arguments: LongForm.seeds(3, of: 50))
    func graphs(_ hundred: Int) async {
        for seed in Self.seeds(of: hundred) {
            let problems = await GraphSimulation(seed: UInt64(seed)).problems()
            #expect(problems == [], "scripts/simulate --graphs --replay \(seed)")
        }
    }

    /// 1873: a link that two objects had made was taken out of one of them and came back. 1681, 2141,
    /// 2244: a tag was merged into one that was merged into another one, which the check did not know.
    @Test(
        "histories of graphs that once ended wrong end well", arguments: [1681, 1873, 2141, 2244])
    func graphsAgain(_ seed: Int) async {
        let problems = await GraphSimulation(seed: UInt64(seed)).problems()
        #expect(problems == [], "scripts/simulate --graphs --replay \(seed)")
    }

    /// 4883: an edit lost to one that was seen where the record was removed.
    @Test("histories that once ended wrong end well", arguments: [4883])
    func again(_ seed: Int) async {
        let problems = await SimulationCheck(seed: UInt64(seed)).problems()
        #expect(problems == [], "scripts/simulate --replay \(seed)")
    }

    private static func seeds(of hundred: Int) -> Range<Int> {
        let first = (hundred - 1) * seedsOfTest + 1
        return first..<first + seedsOfTest
    }

    private func endWell(_ hundred: Int) async {
        for seed in Self.seeds(of: hundred) {
            let problems = await SimulationCheck(seed: UInt64(seed)).problems()
            #expect(problems == [], "scripts/simulate --replay \(seed)")
        }
    }
}
