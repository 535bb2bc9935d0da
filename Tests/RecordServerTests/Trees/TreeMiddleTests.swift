import RecordModel
import RecordWire
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// What happens to a hierarchy, and to those who see it, between two transactions of its share.
@Suite("In the middle of sharing and moving large hierarchies") struct TreeMiddleTests {
    private typealias Scene = TreeScene
    private static let sharing = [TreeOperation.share("root"), TreeOperation.touch("root")]

    @Test("participants read, write and fetch on while a part of their share is made to leave")
    func participants() async throws {
        let scene = try await Scene.large(room: 5, seconds: 0, shared: "READ_WRITE")
        var members = Scene.largeMembers.union(["share-root"])
        #expect(try await scene.fetched(.bob) == members)
        #expect(try await scene.fetched(.carol) == members)
        var steps = 0
        while try await scene.modify([TreeOperation.save("c7", below: nil)]) == "TRY_AGAIN_LATER" {
            steps += 1
            try #require(steps < 1_000)
            // Nothing new, and no token expires.
            #expect(try await scene.fetched(.carol) == members)
            #expect(scene.views[.carol]?.isAgain == false)
            #expect(try await scene.queried(.carol) == members.subtracting(["share-root"]))
            let place = "d\(min(50, steps * 5))"
            let own = [TreeOperation.save("bob\(steps)", below: place), TreeOperation.touch("d50")]
            #expect(try await scene.modify(own, as: .bob) == nil)
            members.insert("bob\(steps)")
        }
        try #require(steps >= 10)
        let left = Scene.largeChain.union((1...steps).map { "bob\($0)" })
        for viewer in Scene.Viewer.allCases {
            #expect(try await scene.fetched(viewer) == members.subtracting(left))
            #expect(try await scene.modify([TreeOperation.touch("d3")], as: viewer) != nil)
        }
        #expect(scene.repeated == [])
        #expect(Set(try await scene.memberships().keys) == members.subtracting(left))
    }

    @Test("a change that nobody comes back for is finished by the next one around it")
    func abandoned() async throws {
        let scene = try await Scene.large(room: 5, seconds: 0)
        let outer = [TreeOperation.share("c7"), TreeOperation.touch("c7")]
        for _ in 0..<3 { #expect(try await scene.modify(outer) == "TRY_AGAIN_LATER") }
        // Another one is begun within that, and left as well.
        let inner = [TreeOperation.share("d10"), TreeOperation.touch("d10")]
        for _ in 0..<3 { #expect(try await scene.modify(inner) == "TRY_AGAIN_LATER") }
        try await scene.share("root")
        #expect(Set(try await scene.memberships().keys) == Scene.largeMembers.union(["share-root"]))
        #expect(try await scene.finish([TreeOperation.delete("share-root")]) == nil)
        #expect(try await scene.memberships().isEmpty)
        #expect(try await scene.workCount() == 0)
    }

    @Test("of two same or overlapping shares at once, one is made, and the other refused")
    func twoShares() async throws {
        let scene = try await Scene.large(room: 5)
        let codes = try await scene.modifyTogether(Self.sharing, Self.sharing)
        let refusals = codes.compactMap { $0 }
        #expect(refusals.count == 1 && refusals != ["TRY_AGAIN_LATER"])
        let all = Scene.largeMembers.union(["share-root"])
        #expect(Set(try await scene.memberships().keys) == all)
        #expect(try await scene.finish([TreeOperation.delete("share-root")]) == nil)

        let other = try await Scene.large(room: 5)
        let within = [TreeOperation.share("c7"), TreeOperation.touch("c7")]
        let overlapping = try await other.modifyTogether(Self.sharing, within)
        #expect(overlapping.compactMap { $0 } == ["ALREADY_SHARED"])
        let expected = overlapping[0] == nil ? all : Scene.largeChain.union(["share-c7"])
        #expect(Set(try await other.memberships().keys) == expected)
    }

    @Test("a share and a move out of it at once are both done, and both hold")
    func shareAndMove() async throws {
        let scene = try await Scene.large(room: 5)
        let codes = try await scene.modifyTogether(
            Self.sharing, [TreeOperation.save("c7", below: nil)])
        #expect(codes == [nil, nil])
        let rest = Scene.largeMembers.subtracting(Scene.largeChain)
        #expect(Set(try await scene.memberships().keys) == rest.union(["share-root"]))
        try await scene.accept("share-root", as: .bob)
        #expect(try await scene.fetched(.bob) == rest.union(["share-root"]))
    }

    @Test("a zone that is deleted in the middle ends the request, and leaves nothing")
    func zoneDeleted() async throws {
        let scene = try await Scene.large(room: 5)
        let fixture = scene.fixture
        scene.writes.interrupt(after: 20) { () throws(ServerError) in
            try await fixture.deleteZone()
        }
        #expect(try await scene.modify(Self.sharing) == "ZONE_NOT_FOUND")
        try await scene.sweep()
        #expect(try await scene.treeCount() == 0)
        #expect(try await scene.workCount() == 0)
    }

    @Test("a zone that is made anew in the middle is another one: what was begun is not for it")
    func zoneMadeAnew() async throws {
        let scene = try await Scene.large(room: 5)
        let (key, storage, fixture) = (scene.fixture.zone, scene.fixture.storage, scene.fixture)
        scene.writes.interrupt(after: 20) { () throws(ServerError) in
            try await fixture.deleteZone()
            try await storage.write { transaction throws(ServerError) in
                _ = try transaction.createZone(key, incarnation: 78)
            }
        }
        // The batch makes its root in the new zone.
        #expect(try await scene.modify(Self.sharing) == nil)
        #expect(Set(try await scene.memberships().keys) == ["root", "share-root"])
        try await scene.sweep()
        #expect(try await scene.treeCount() == 1)
        #expect(try await scene.workCount() == 0)
    }

    @Test("a root that is deleted in the middle, with all below it, leaves no tree")
    func rootDeleted() async throws {
        let scene = try await TreeScene(room: 5, seconds: 0)
        let names = (0..<30).map { "c\($0)" }
        let saves = names.map { TreeOperation.save($0, below: "root") }
        #expect(try await scene.modify([TreeOperation.save("root", below: nil)] + saves) == nil)
        for _ in 0..<3 {
            #expect(try await scene.modify(Self.sharing) == "TRY_AGAIN_LATER")
        }
        let deletions = (names + ["root"]).map { TreeOperation.delete($0) }
        #expect(try await scene.modify(deletions) == nil)
        #expect(try await scene.treeCount() == 0)
        #expect(try await scene.workCount() == 0)
        // The same request now makes a root of its own.
        #expect(try await scene.modify(Self.sharing) == nil)
        #expect(Set(try await scene.memberships().keys) == ["root", "share-root"])
    }

    @Test("an owner whose quota goes in the middle has no share, and no part of one")
    func quotaGone() async throws {
        let scene = try await Scene.large(room: 5, seconds: 0)
        for _ in 0..<5 {
            #expect(try await scene.modify(Self.sharing) == "TRY_AGAIN_LATER")
        }
        func setQuota(_ bytes: Int64?) async throws {
            var owner = scene.fixture.alice
            owner.quotaBytes = bytes
            let changed = owner
            try await scene.fixture.storage.write { transaction throws(ServerError) in
                try transaction.putUser(changed)
            }
        }
        try await setQuota(0)
        #expect(try await scene.finish(Self.sharing) == "QUOTA_EXCEEDED")
        #expect(try await scene.memberships().isEmpty)
        try await setQuota(nil)
        #expect(try await scene.finish(Self.sharing) == nil)
        #expect(Set(try await scene.memberships().keys) == Scene.largeMembers.union(["share-root"]))
    }
}
