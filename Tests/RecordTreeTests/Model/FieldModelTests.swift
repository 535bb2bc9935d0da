import Foundation
import TestSupport
import Testing

/// Random renames, exchanges, links, copies and removals of records and their large fields, with a
/// model that says what is there when each has had its grace time. `RECORDFS_MODEL_SEED=N` runs one
/// seed.
@Suite("Large fields beside their model", .serialized)
struct FieldModelTests {
    @Test("each record has its own field, text and bytes", arguments: ModelSeeds.all(10, of: 200))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<200).map { _ in FieldStep.random(from: &random) }
        let fields = try ModelledFields()
        guard try fields.run(steps) != nil else {
            #expect(fields.taken > steps.count / 5, "seed \(seed): nearly every step is left out")
            let problems = try fields.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) { try ModelledFields().run($0) }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }
}
