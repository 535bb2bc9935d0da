import TestSupport
import Testing

/// Random moves of records between types, zones, databases and local names, with their large fields
/// and with files that are open meanwhile. `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("Moves beside their model", .serialized)
struct MoveModelTests {
    @Test(
        "each file is where it was moved, with its field, and open ones go along",
        arguments: ModelSeeds.all(12, of: 200))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<250).map { _ in MoveStep.random(from: &random) }
        let moves = try ModelledMoves()
        guard try moves.run(steps) != nil else {
            #expect(moves.taken > steps.count / 4, "seed \(seed): nearly every step is left out")
            let problems = try moves.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) { try ModelledMoves().run($0) }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
