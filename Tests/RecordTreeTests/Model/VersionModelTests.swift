import TestSupport
import Testing

/// Random writes, renames, removals and changes from elsewhere below files that stay open, with a
/// model that says what each reader sees. `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("Open files beside their model", .serialized)
struct VersionModelTests {
    @Test(
        "each reader sees one file, and no text from elsewhere",
        arguments: ModelSeeds.all(8, of: 200))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<250).map { _ in VersionStep.random(from: &random) }
        let versions = try ModelledVersions()
        guard try versions.run(steps) != nil else {
            #expect(versions.taken > steps.count / 3, "seed \(seed): nearly every step is left out")
            let problems = try versions.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) {
            try ModelledVersions().run($0)
        }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
