import ArgumentParser
import Foundation
import Simulation
import Synchronization

/// Runs histories of machines that share records, with faults, each from a number, and says which of
/// them end wrong. See `scripts/simulate`.
@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Run seeded histories of the sync engine.")

    @Option(help: "How many histories.")
    var seeds = 1_000
    @Option(help: "The first seed.")
    var from: UInt64 = 1
    @Option(help: "Run one history, and print it shortened when it ends wrong.")
    var replay: UInt64?
    @Option(help: "How many run at the same time.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: "End at the first failure.")
    var firstFailure = false
    @Flag(help: "Histories of several users, who share with each other.")
    var sharing = false
    @Flag(
        help: """
            Histories of three and four machines, several types that have the same names, and clocks that \
            are wrong.
            """)
    var wide = false

    @Flag(help: "Histories of machines that edit a graph of objects with a model.")
    var graphs = false

    @Flag(help: "Histories of machines that take their steps back, and do them again.")
    var undo = false

    func run() async throws {
        if let replay {
            try await self.replay(replay)
            return
        }
        let begin = ContinuousClock.now
        let failed = await runAll()
        let seconds = (ContinuousClock.now - begin).components.seconds
        print("\(seeds) histories from \(from) on in \(seconds) s: \(failed.count) end wrong")
        if let first = failed.min() {
            let option =
                undo
                ? "--undo " : graphs ? "--graphs " : sharing ? "--sharing " : wide ? "--wide " : ""
            print("scripts/simulate \(option)--replay \(first) shows the first of them.")
            throw ExitCode.failure
        }
    }

    private func runAll() async -> [UInt64] {
        let queue = SeedQueue(from, count: seeds)
        let (firstFailure, problems) = (firstFailure, problems)
        return await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<max(1, jobs) {
                group.addTask {
                    var failed: [UInt64] = []
                    while failed.isEmpty || !firstFailure {
                        guard let seed = queue.next() else { break }
                        guard let problem = await problems(seed).first else { continue }
                        failed.append(seed)
                        print("seed \(seed): \(problem)")
                        if firstFailure { queue.empty() }
                    }
                    return failed
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Says what is wrong at the end of a history.
    private var problems: @Sendable (_ seed: UInt64) async -> [String] {
        if graphs { return { await GraphSimulation(seed: $0).problems() } }
        if sharing { return { await SharingCheck(seed: $0).problems() } }
        return { [wide, undo] seed in
            await SimulationCheck(seed: seed, isWide: wide, undoes: undo).problems()
        }
    }

    private func replay(_ seed: UInt64) async throws {
        if graphs {
            let history = GraphSimulation(seed: seed)
            try await replay(
                seed, of: history.steps.count, problems: { await history.problems($0) },
                shortened: { await history.shortened() }, trace: { await history.run($0).trace })
        } else if sharing {
            let check = SharingCheck(seed: seed)
            try await replay(
                seed, of: check.simulation.steps.count, problems: { await check.problems($0) },
                shortened: { await check.shortened() },
                trace: { await check.simulation.run($0).trace })
        } else {
            let check = SimulationCheck(seed: seed, isWide: wide, undoes: undo)
            try await replay(
                seed, of: check.simulation.steps.count, problems: { await check.problems($0) },
                shortened: { await check.shortened() },
                trace: { await check.simulation.run($0).trace })
        }
    }

    private func replay<Step>(
        _ seed: UInt64, of count: Int, problems: ([Step]?) async -> [String],
        shortened: () async -> [Step], trace: ([Step]) async -> [String]
    ) async throws {
        guard await !problems(nil).isEmpty else {
            print("seed \(seed) ends well")
            return
        }
        let steps = await shortened()
        print("seed \(seed), \(steps.count) of \(count) steps:")
        for step in steps { print("  \(step)") }
        for line in await trace(steps) { print("  | \(line)") }
        for problem in await problems(steps) { print(problem) }
        throw ExitCode.failure
    }
}

/// Seeds that nobody has taken yet.
private final class SeedQueue: Sendable {
    private let rest: Mutex<Range<UInt64>>

    init(_ first: UInt64, count: Int) { rest = Mutex(first..<first + UInt64(max(0, count))) }

    func next() -> UInt64? { rest.withLock { $0.popFirst() } }
    func empty() { rest.withLock { $0 = $0.upperBound..<$0.upperBound } }
}
