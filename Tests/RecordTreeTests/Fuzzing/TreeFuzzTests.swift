import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// 40 000 calls with extreme values, in the long form 100 000. `RECORDFS_FUZZ_SEED=N` runs one seed
/// and prints its steps; the seed of a run that traps is the last that was printed.
@Suite("The tree under extreme calls", .serialized)
struct TreeFuzzTests {
    private static let stepsARun = 2000
    private static let seeds: [UInt64] = {
        if let chosen = environment { return [chosen] }
        return LongForm.seeds(20, of: 50).map(UInt64.init)
    }()

    private static var environment: UInt64? {
        ProcessInfo.processInfo.environment["RECORDFS_FUZZ_SEED"].flatMap { UInt64($0) }
    }

    @Test("no call traps, breaks the store or loses an acknowledged save", arguments: seeds)
    func calls(seed: UInt64) throws {
        print("tree fuzz: seed \(seed)")
        let fuzzer = try TreeFuzzer(seed: seed, isTraced: Self.environment != nil)
        try fuzzer.run(steps: Self.stepsARun)
        #expect(fuzzer.successes > Self.stepsARun / 10, "seed \(seed): nearly every call fails")
        try fuzzer.fixture.tree.finish()
        let problems = try fuzzer.fixture.store.upkeep.integrityCheck(deep: true)
        #expect(problems.isEmpty, "seed \(seed): \(problems)")
        try compareWithAnotherTree(fuzzer, seed)
    }

    /// A second tree over the same store shows the same texts: nothing lived in memory only.
    private func compareWithAnotherTree(_ fuzzer: TreeFuzzer, _ seed: UInt64) throws {
        let fixture = fuzzer.fixture
        let other = Tree(
            store: fixture.store, options: .init(owner: 1, group: 1, limits: TreeFuzzer.limits))
        let shown = try texts(fixture.tree, fixture.notes)
        for (name, text) in try texts(other, fixture.notes) {
            let words = String(decoding: text.prefix(500), as: UTF8.self)
            #expect(shown[name] == text, "seed \(seed): the store has \(name) as \(words)")
        }
    }

    private func texts(_ tree: Tree, _ directory: NodeNumber) throws -> [String: [UInt8]] {
        var texts: [String: [UInt8]] = [:]
        for name in ["a", "b", "c", "d", "e", "x"].map({ "\($0).json" }) {
            guard
                let entry = try tree.lookup(
                    parent: directory, name: name.b, caller: TreeFixture.user)
            else { continue }
            let handle = try tree.open(entry.node, flags: O_RDONLY, caller: TreeFixture.user).handle
            defer { tree.release(handle) }
            if case .bytes(let bytes) = try tree.read(handle, offset: 0, count: 1 << 20) {
                texts[name] = bytes
            }
        }
        return texts
    }
}
