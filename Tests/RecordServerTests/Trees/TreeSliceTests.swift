import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore

/// Large hierarchies: what each transaction does, and what others have of them meanwhile.
@Suite("Sharing and moving large hierarchies") struct TreeSliceTests {
    private func scene(
        room: Int = 20, seconds: Double = 60, isShared: Bool = false
    ) async throws -> TreeScene {
        try await TreeScene.large(
            room: room, seconds: seconds, shared: isShared ? "READ_ONLY" : nil)
    }

    private func share(_ scene: TreeScene, _ root: String) async throws {
        try await scene.share(root)
    }

    private var members: Set<String> { TreeScene.largeMembers }

    @Test("no transaction of a share, its end, a share again and moves writes more than its slice")
    func bounded() async throws {
        let scene = try await scene()
        scene.writes.reset()
        try await share(scene, "root")
        #expect(try await scene.modify([TreeOperation.save("other", below: nil)]) == nil)
        try await share(scene, "other")
        let batches = [
            [TreeOperation.delete("share-root")],
            [TreeOperation.share("root"), TreeOperation.touch("root")],
            [TreeOperation.delete("share-root")],
            [TreeOperation.save("root", below: "other")],
            [TreeOperation.save("root", below: nil)],
            [TreeOperation.save("c7", below: "other")],
        ]
        for batch in batches { #expect(try await scene.finish(batch) == nil) }
        // A slice, with the note of what is left of it, and what the batch itself writes.
        let most = scene.writes.most
        #expect(most <= 3 * 20 + 20, "\(most) rows")
        #expect(scene.writes.count > 450 / 20)
        let moved = members.filter { $0 == "c7" || $0.hasPrefix("d") }
        #expect(
            Set(try await scene.memberships().keys) == moved.union(["other", "share-other"]))
    }

    @Test("an existing hierarchy is shared, unshared and shared again in one transaction each")
    func oneTransaction() async throws {
        let scene = try await scene(isShared: true)
        for batch in [
            [TreeOperation.delete("share-root")],
            [TreeOperation.share("root"), TreeOperation.touch("root")],
        ] {
            let before = scene.writes.count
            #expect(try await scene.modify(batch) == nil)
            #expect(scene.writes.count == before + 1)
        }
        #expect(try await scene.memberships().count == members.count + 1)
    }

    @Test("nobody sees anything of a share until it is there as a whole")
    func invisible() async throws {
        let scene = try await scene(seconds: 0)
        let batch = [TreeOperation.share("root"), TreeOperation.touch("root")]
        var steps = 0
        while try await scene.modify(batch) == "TRY_AGAIN_LATER" {
            steps += 1
            try #require(steps < 1_000)
            #expect(try await scene.memberships().isEmpty)
            #expect(try await scene.fixture.share(RecordName("share-root")) == nil)
        }
        #expect(steps >= 450 / 20)
        #expect(try await scene.memberships().count == members.count + 1)
        try await scene.accept("share-root", as: .bob)
        #expect(try await scene.fetched(.bob) == members.union(["share-root"]))
        #expect(try await scene.queried(.bob) == members)
    }

    @Test("what enters or leaves a share in large numbers is fetched anew, each record once")
    func fetchedAnew() async throws {
        let scene = try await scene()
        #expect(try await scene.modify([TreeOperation.save("other", below: nil)]) == nil)
        try await share(scene, "other")
        #expect(try await scene.fetched(.bob) == ["other", "share-other"])
        #expect(try await scene.finish([TreeOperation.save("root", below: "other")]) == nil)
        let all = members.union(["other", "share-other"])
        #expect(try await scene.fetched(.bob) == all)
        #expect(scene.views[.bob]?.isAgain == true)
        // From there on changes are told as before.
        #expect(try await scene.modify([TreeOperation.save("new", below: "d50")]) == nil)
        #expect(try await scene.fetched(.bob) == all.union(["new"]))
        #expect(try await scene.finish([TreeOperation.save("root", below: nil)]) == nil)
        #expect(try await scene.fetched(.bob) == ["other", "share-other"])
        #expect(scene.repeated == [])
    }

    @Test("a few records that enter or leave are told as changes, without fetching anew")
    func fewAreTold() async throws {
        let scene = try await scene(room: 60)
        #expect(try await scene.modify([TreeOperation.save("other", below: nil)]) == nil)
        try await share(scene, "other")
        _ = try await scene.fetched(.bob)
        let token = try #require(scene.views[.bob]?.token)
        #expect(try await scene.modify([TreeOperation.save("c7", below: "other")]) == nil)
        let entered = try #require(try await scene.feed(.bob, since: token))
        let chain = Set(["c7"] + (1...50).map { "d\($0)" })
        #expect(entered.entries.count == 51)
        #expect(Set(entered.entries.map(\.name)) == chain)
        #expect(try await scene.modify([TreeOperation.save("c7", below: "root")]) == nil)
        let left = try #require(try await scene.feed(.bob, since: entered.token))
        #expect(Set(left.entries.filter(\.isGone).map(\.name)) == chain)
        #expect(left.entries.count == 51)
    }

    @Test("a hierarchy with a share in it is not shared, however large it is")
    func nested() async throws {
        let scene = try await scene()
        try await share(scene, "d50")
        let code = try await scene.finish([
            TreeOperation.share("root"), TreeOperation.touch("root"),
        ])
        #expect(code == "ALREADY_SHARED")
        #expect(Set(try await scene.memberships().keys) == ["d50", "share-d50"])
        #expect(try await scene.modify([TreeOperation.delete("share-d50")]) == nil)
        try await share(scene, "root")
        #expect(try await scene.fetched(.carol) == members.union(["share-root"]))
    }

    @Test("records made, moved and deleted while a share is prepared are where they belong")
    func meanwhile() async throws {
        let scene = try await scene(seconds: 0)
        let batch = [TreeOperation.share("root"), TreeOperation.touch("root")]
        var expected = members
        var steps = 0
        while try await scene.modify(batch) == "TRY_AGAIN_LATER" {
            steps += 1
            try #require(steps < 1_000)
            guard steps < 30 else { continue }
            let new = "new\(steps)"
            // Under one that has its number, under one that has not, away, and gone.
            #expect(
                try await scene.modify([
                    TreeOperation.save(new, below: steps.isMultiple(of: 2) ? "root" : "d40"),
                    TreeOperation.save("c\(100 + steps)", below: nil),
                    TreeOperation.delete("c\(200 + steps)"),
                ]) == nil)
            expected.insert(new)
            expected.remove("c\(100 + steps)")
            expected.remove("c\(200 + steps)")
        }
        #expect(Set(try await scene.memberships().keys) == expected.union(["share-root"]))
    }

    @Test("trees go with their tops, and with their zone")
    func removed() async throws {
        let scene = try await scene(isShared: true)
        #expect(try await scene.modify([TreeOperation.save("single", below: nil)]) == nil)
        try await share(scene, "single")
        #expect(try await scene.treeCount() == 2)
        #expect(try await scene.modify([TreeOperation.delete("single")]) == nil)
        #expect(try await scene.treeCount() == 1)
        try await scene.deleteZone()
        try await scene.sweep()
        #expect(try await scene.treeCount() == 0)
    }

    @Test("the tree of a single record goes with its share; that of others stays")
    func singles() async throws {
        let scene = try await scene()
        #expect(try await scene.modify([TreeOperation.save("below", below: "c1")]) == nil)
        for name in ["c1", "c2", "c3"] { try await share(scene, name) }
        #expect(try await scene.treeCount() == 3)
        let ends = ["c1", "c2", "c3"].map { TreeOperation.delete("share-\($0)") }
        // In one batch with a record that comes below one of them.
        #expect(try await scene.modify(ends + [TreeOperation.save("new", below: "c2")]) == nil)
        #expect(try await scene.treeCount() == 1)
        try await share(scene, "root")
        #expect(
            Set(try await scene.memberships().keys)
                == members.union(["below", "new", "share-root"]))
        #expect(try await scene.fetched(.bob) == members.union(["below", "new", "share-root"]))
    }

    @Test("more trees than can change at once are not shared together, and what is shared can end")
    func manyTrees() async throws {
        let scene = try await TreeScene(room: 20, seconds: 60) { $0.treesPerShare = 10 }
        func save(_ name: String, _ parent: String?) -> JSONValue {
            TreeOperation.save(name, below: parent)
        }
        #expect(try await scene.modify([save("root", nil), save("other", nil)]) == nil)
        for number in 0..<10 {
            let parts = [save("p\(number)", "root"), save("q\(number)", "p\(number)")]
            #expect(try await scene.modify(parts) == nil)
            try await share(scene, "p\(number)")
            #expect(try await scene.modify([TreeOperation.delete("share-p\(number)")]) == nil)
        }
        let batch = [TreeOperation.share("root"), TreeOperation.touch("root")]
        #expect(try await scene.finish(batch) == "LIMIT_EXCEEDED")
        #expect(try await scene.memberships().isEmpty)
        #expect(try await scene.modify([save("p0", "other")]) == nil)
        #expect(try await scene.finish(batch) == nil)
        #expect(try await scene.memberships().count == 1 + 1 + 2 * 9)
        #expect(try await scene.modify([save("p0", "root")]) == "LIMIT_EXCEEDED")
        #expect(try await scene.modify([TreeOperation.delete("share-root")]) == nil)
        #expect(try await scene.memberships().isEmpty)
    }
}
