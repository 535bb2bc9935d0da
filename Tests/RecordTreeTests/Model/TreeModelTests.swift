import TestSupport
import Testing

/// Random calls of programs, with a model that says what each answers and what the directory shows
/// after it. A run that differs is shortened to the steps that it needs, and these are printed.
/// `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("The tree beside its model", .serialized)
struct TreeModelTests {
    @Test(
        "listings, texts, drafts, sizes, links and errno are those of the model",
        arguments: ModelSeeds.all(12, of: 200))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<400).map { _ in TreeStep.random(from: &random) }
        let tree = try ModelledTree()
        guard try tree.run(steps) != nil else {
            #expect(tree.taken > steps.count / 4, "seed \(seed): nearly every step is left out")
            let problems = try tree.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) { try ModelledTree().run($0) }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
