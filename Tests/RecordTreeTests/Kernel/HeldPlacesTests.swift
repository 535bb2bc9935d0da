import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Random calls and changes from elsewhere in the directories above the records, beside a kernel
/// that remembers every answer which it may remember. `RECORDFS_MODEL_SEED=N` runs one seed.
@Suite("The places of a tree beside the memory of a kernel", .serialized)
struct HeldPlacesTests {
    @Test(
        "zones, owners and record types are remembered as they are",
        arguments: ModelSeeds.all(5, of: 400))
    func run(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let steps = (0..<250).map { _ in PlaceStep.random(from: &random) }
        let isWatched = seed % 2 == 0
        let walk = try PlaceWalk(isWatched: isWatched)
        guard try walk.run(steps) != nil else {
            #expect(
                walk.kernel.taken > steps.count / 2, "seed \(seed): nearly every step is left out")
            let problems = try walk.kernel.finish()
            #expect(problems == [], "seed \(seed)")
            return
        }
        let (short, difference) = try ModelSeeds.shortest(steps) {
            try PlaceWalk(isWatched: isWatched).run($0)
        }
        Issue.record("seed \(seed): \(difference), after\n\(short)")
    }

    @Test("an owner's directory has an inode of its own from the first answer on, in each mount")
    func owners() throws {
        let fixture = try TreeFixture()
        try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            for owner in ["olga", "paul"] {
                _ = try transaction.makeZone(.shared, OwnerName(owner), ZoneName("Box"))
            }
        }
        func inode(_ owner: String) throws -> UInt64 {
            try #require(try fixture.find("shared/\(owner)")).attributes.inode
        }
        let first = try ["olga", "paul"].map(inode)
        #expect(first[0] != first[1])
        #expect(try ["olga", "paul"].map(inode) == first)
        try fixture.remount()
        // In the other order.
        #expect(try ["paul", "olga"].map(inode) == first.reversed())
    }
}
