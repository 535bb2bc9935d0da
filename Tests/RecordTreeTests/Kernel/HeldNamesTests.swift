import TestSupport
import Testing

/// Random calls and changes from elsewhere, beside a kernel that remembers every answer which it
/// may remember. `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("The tree beside the memory of a kernel", .serialized)
struct HeldNamesTests {
    @Test(
        "what the kernel remembers is what it would be told now",
        arguments: ModelSeeds.all(5, of: 400))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<250).map { _ in KernelStep.random(from: &random) }
        let isWatched = seed % 2 == 0
        let walk = try KernelWalk(isWatched: isWatched)
        guard try walk.run(steps) != nil else {
            #expect(walk.taken > steps.count / 2, "seed \(seed): nearly every step is left out")
            let problems = try walk.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) {
            try KernelWalk(isWatched: isWatched).run($0)
        }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
