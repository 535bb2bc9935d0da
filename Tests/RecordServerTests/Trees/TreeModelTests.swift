import RecordModel
import RecordWire
import TestSupport
import Testing

@Suite("Trees of records against a model") struct TreeModelTests {
    @Test(
        "whatever moves and is shared, in whatever slices: everybody has what the model says, at every step",
        arguments: LongForm.seeds(6, of: 12))
    func model(seed: Int) async throws {
        var run = try await TreeRun(seed: UInt64(seed))
        for _ in 0..<120 { try await run.step() }
        try await run.check()
        // Else it has shown nothing.
        #expect(run.refusals > 5 && run.interruptions > 5, "\(run.refusals) \(run.interruptions)")
        #expect(run.scene.repeated == [])
    }
}

/// A scene with its model and a source of chance.
private struct TreeRun {
    let scene: TreeScene
    private var model = TreeModel()
    private var random: SeededRandom
    private var count = 0
    private(set) var refusals = 0
    private(set) var interruptions = 0

    init(seed: UInt64) async throws {
        scene = try await TreeScene()
        random = SeededRandom(seed: seed)
        for _ in 0..<8 { try await grow() }
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    private mutating func pick(_ names: [String]) -> String? { names.randomElement(using: &random) }

    mutating func step() async throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: try await grow()
        default: try await send(batch())
        }
        if chance(30) { try await check() }
    }

    /// New records, often a chain or many below one.
    private mutating func grow() async throws {
        var steps: [TreeStep] = []
        var parent = chance(80) ? pick(model.names) : nil
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            count += 1
            steps.append(.save("n\(count)", below: parent))
            if chance(40) { parent = "n\(count)" }
        }
        try await send(steps)
    }

    private mutating func batch() -> [TreeStep] {
        var steps: [TreeStep] = []
        for _ in 0..<(chance(30) ? 3 : 1) {
            guard let step = one(), !steps.contains(where: { $0.name == step.name }) else {
                continue
            }
            steps.append(step)
        }
        return steps
    }

    private mutating func one() -> TreeStep? {
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1, 2, 3:
            return pick(model.names).map { .save($0, below: chance(80) ? pick(model.names) : nil) }
        case 4, 5, 6: return pick(model.names).map { .share($0) }
        case 7, 8: return pick(model.roots.sorted()).map { .unshare($0) }
        default:
            let inner = Set(model.parents.values.compactMap { $0 })
            return pick(model.names.filter { !inner.contains($0) || chance(10) }).map {
                .delete($0)
            }
        }
    }

    /// Sends a batch until it is done, with other things between its slices.
    private mutating func send(_ steps: [TreeStep], depth: Int = 0) async throws {
        guard !steps.isEmpty else { return }
        let operations = steps.flatMap(\.operations)
        for _ in 0..<10_000 {
            // A batch that needs several transactions may be another one by its end.
            let after = model.after(steps)
            let code = try await scene.modify(operations)
            if code == "TRY_AGAIN_LATER" {
                interruptions += 1
                if chance(40) { try await check() }
                if chance(30), depth < 3 { try await send(batch(), depth: depth + 1) }
                if chance(10) { return }
                continue
            }
            guard let after else {
                refusals += 1
                #expect(code != nil, "\(steps) must be refused")
                return
            }
            #expect(code == nil, "\(steps)")
            guard code == nil else { return }
            model = after
            for case .share(let root) in steps { try await accept(root) }
            return
        }
        Issue.record("\(steps) is never done")
    }

    private mutating func accept(_ root: String) async throws {
        for viewer in TreeScene.Viewer.allCases where chance(70) {
            try await scene.accept("share-\(root)", as: viewer)
            model.accepted[viewer]?.insert(root)
        }
    }

    mutating func check() async throws {
        #expect(try await scene.memberships() == model.memberships)
        for viewer in TreeScene.Viewer.allCases {
            let seen = model.seen(by: viewer)
            #expect(try await scene.seen(viewer) == seen)
            if chance(60) { #expect(try await scene.fetched(viewer) == seen) }
            let notes = seen.filter { !$0.hasPrefix("share-") }
            if chance(20) { #expect(try await scene.queried(viewer) == notes) }
        }
    }
}
