import TestSupport
import Testing

/// Random calls in directories of this machine, any depth and with hard links, while the kernel
/// drops nodes and looks them up again. `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("Directories of this machine beside a model of ext4", .serialized)
struct ScratchModelTests {
    @Test(
        "names, kinds, texts, links, inodes and errno are those of ext4",
        arguments: ModelSeeds.all(10, of: 200))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<300).map { _ in ScratchStep.random(from: &random) }
        let scratch = try ModelledScratch()
        guard try scratch.run(steps) != nil else {
            #expect(scratch.taken > steps.count / 4, "seed \(seed): nearly every step is left out")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) { try ModelledScratch().run($0) }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
