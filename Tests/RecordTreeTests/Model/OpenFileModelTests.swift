import TestSupport
import Testing

/// Random renames of large fields and local files that are open meanwhile. `RECORDFS_MODEL_SEED=N`
/// runs one seed.
@Suite("Open files beside their model", .serialized)
struct OpenFileModelTests {
    @Test(
        "an open file follows its renames, and goes on when it has lost its name",
        arguments: ModelSeeds.all(12, of: 400))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<300).map { _ in OpenFileStep.random(from: &random) }
        let files = try ModelledOpenFiles()
        guard try files.run(steps) != nil else {
            #expect(files.taken > steps.count / 3, "seed \(seed): nearly every step is left out")
            let problems = try files.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) {
            try ModelledOpenFiles().run($0)
        }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
