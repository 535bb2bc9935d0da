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
        await endWell(Self.seeds(of: hundred), "--wide") { seed in
            await SimulationCheck(seed: seed, isWide: true).problems()
        }
    }

    @Test(
        "random histories of machines that take their steps back end well",
        arguments: LongForm.seeds(3, of: 50))
    func undoing(_ hundred: Int) async {
        await endWell(Self.seeds(of: hundred), "--undo") { seed in
            await SimulationCheck(seed: seed, undoes: true).problems()
        }
    }

    @Test("random histories of users who share end well", arguments: LongForm.seeds(5, of: 50))
    func sharing(_ hundred: Int) async {
        await endWell(Self.seeds(of: hundred), "--sharing") { seed in
            await SharingCheck(seed: seed).problems()
        }
    }

    @Test(
        "random histories of machines that edit a graph of objects end well",
        arguments: LongForm.seeds(3, of: 50))
    func graphs(_ hundred: Int) async {
        await endWell(Self.seeds(of: hundred), "--graphs") { seed in
            await GraphSimulation(seed: seed).problems()
        }
    }

    /// 1873: a link that two objects had made was taken out of one of them and came back. 1681, 2141,
    /// 2244: a tag was merged into one that was merged into another one, which the check did not know.
    @Test(
        "histories of graphs that once ended wrong end well", arguments: [1681, 1873, 2141, 2244])
    func graphsAgain(_ seed: Int) async {
        await endWell(seed..<seed + 1, "--graphs") { await GraphSimulation(seed: $0).problems() }
    }

    /// 4883: an edit lost to one that was seen where the record was removed.
    @Test("histories that once ended wrong end well", arguments: [4883])
    func again(_ seed: Int) async {
        await endWell(seed..<seed + 1, "") { await SimulationCheck(seed: $0).problems() }
    }

    private static func seeds(of hundred: Int) -> Range<Int> {
        let first = (hundred - 1) * seedsOfTest + 1
        return first..<first + seedsOfTest
    }

    private func endWell(_ hundred: Int) async {
        await endWell(Self.seeds(of: hundred), "") { await SimulationCheck(seed: $0).problems() }
    }

    /// - Parameter option: the one by which `scripts/simulate` runs these histories.
    private func endWell(
        _ seeds: Range<Int>, _ option: String, _ problems: (UInt64) async -> [String]
    ) async {
        for seed in seeds {
            let found = await problems(UInt64(seed))
            #expect(found == [], "scripts/simulate \(option) --replay \(seed)")
        }
    }
}
