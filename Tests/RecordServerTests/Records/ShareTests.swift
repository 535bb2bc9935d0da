import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Shares in records/modify", .everyTransport) struct ShareTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify(
            "Z", create("root"), create("child", parent: "root"),
            create("leaf", parent: "child"), create("other"))
        return server
    }

    @Test("a share is made together with its root, which then says so with a new tag")
    func creates() async throws {
        let server = try await server()
        let before = try await server.lookup("Z", "root")
        let answer = try await server.share("Z", "root")
        #expect(answer.results == ["saved", "saved"])
        let share = try #require(answer.records.first)
        let root = try #require(answer.records.last)
        #expect(share["recordType"] == "cloudkit.share")
        #expect(share["share"]?["recordName"] == "share-root")
        #expect(root["share"]?["recordName"] == "share-root")
        #expect(root["shortGUID"] == share["shortGUID"])
        #expect(share["publicPermission"] == "NONE")
        #expect(share["owner"] != nil)
        #expect(answer.tag(1) != before.tag())
        #expect(try await server.lookup("Z", "child").records.first?["share"] == nil)
    }

    @Test("a share whose root is not in the batch is refused the first time only")
    func needsRoot() async throws {
        let server = try await server()
        let alone = try await server.modify("Z", TestServer.shareOperation("root"))
        #expect(alone.results == ["BAD_REQUEST"])
        let made = try await server.share("Z", "root")
        let title: JSONValue = ["cloudkit.title": text("Plans")]
        let again = try await server.modify(
            "Z", operation("update", "share-root", type: "cloudkit.share", title, tag: made.tag()))
        #expect(again.results == ["saved"])
        #expect(again.records.first?["fields"] == title)
    }

    @Test("a root that fails in the batch takes its share along")
    func failedRoot() async throws {
        let server = try await server()
        let answer = try await server.modify(
            "Z", atomic: false, TestServer.shareOperation("root"), update("root", tag: "stale"))
        #expect(answer.results == ["BAD_REQUEST", "CONFLICT"])
        let orphan = try await server.modify(
            "Z", atomic: false, TestServer.shareOperation("new"), create("new", parent: "nobody"))
        #expect(orphan.results == ["BAD_REQUEST", "VALIDATING_REFERENCE_ERROR"])
        #expect(
            try await server.lookup("Z", "share-root", "share-new").results
                == ["NOT_FOUND", "NOT_FOUND"])
    }

    @Test("a record is in one share only: no second share of a root, a child or a parent")
    func oneShare() async throws {
        let server = try await server()
        try await server.share("Z", "child")
        for root in ["child", "leaf", "root"] {
            let answer = try await server.modify(
                "Z", TestServer.shareOperation(root, name: "second-\(root)"), force(root))
            #expect(answer.results.contains("ALREADY_SHARED"))
        }
        let zone = try await server.modify("Z", TestServer.shareOperation(nil))
        #expect(zone.results == ["ALREADY_SHARED"])
    }

    @Test("a shared hierarchy does not come below another one")
    func noNesting() async throws {
        let server = try await server()
        try await server.share("Z", "root")
        try await server.share("Z", "other")
        #expect(
            try await server.modify("Z", force("other", parent: "leaf")).results
                == ["ALREADY_SHARED"])
        try await server.modify("Z", create("top"))
        #expect(try await server.modify("Z", force("other", parent: "top")).results == ["saved"])
        #expect(
            try await server.modify("Z", force("top", parent: "leaf")).results
                == ["ALREADY_SHARED"])
    }

    @Test("the owner deleting the share ends it for everybody and keeps the records")
    func stops() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let before = try await server.lookup("Z", "root")
        let start = try await server.changes("Z")
        #expect(try await server.modify("Z", delete("share-root")).results == ["deleted"])
        #expect(
            try await server.lookup("Z", "root", "child", "leaf").results
                == ["saved", "saved", "saved"])
        let root = try await server.lookup("Z", "root")
        #expect(root.records.first?["share"] == nil)
        #expect(root.tag() != before.tag())
        #expect(
            Set(try await server.changes("Z", since: start.token).names) == ["-share-root", "root"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "root").code == "ZONE_NOT_FOUND")
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, force("leaf")).code
                == "ZONE_NOT_FOUND")
    }

    @Test("a root keeps its short GUID over unshare and share again")
    func stableURL() async throws {
        let server = try await server()
        for root in ["root", nil] {
            let first = try await server.share("Z", root)
            let name = root.map { "share-" + $0 } ?? "cloudkit.zoneshare"
            try await server.modify("Z", delete(name))
            let second = try await server.share("Z", root)
            #expect(first.records.first?["shortGUID"] == second.records.first?["shortGUID"])
            try await server.modify("Z", delete(name))
        }
    }

    @Test("a share can be ended and made again in one batch")
    func reshares() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify(
            "Z", TestServer.shareOperation("root", name: "again"), delete("share-root"),
            force("root"))
        #expect(answer.results == ["saved", "deleted", "saved"])
        #expect(answer.records.last?["share"]?["recordName"] == "again")
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "root").code == "ZONE_NOT_FOUND")
    }

    @Test("a participant deleting the share leaves it; the owner keeps all, the others stay")
    func leaves() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_ONLY", .carol: "READ_ONLY"])
        let start = try await server.changes("Z")
        let answer = try await server.modify("Z", of: .alice, as: .bob, delete("share-root"))
        #expect(answer.results == ["deleted"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "root").code == "ZONE_NOT_FOUND")
        #expect(
            try await server.lookup("Z", of: .alice, as: .carol, "leaf").results == ["saved"])
        #expect(try await server.changes("Z", since: start.token).names == ["share-root"])
        #expect(
            try await server.lookup("Z", "root", "child", "leaf", "share-root").results
                == ["saved", "saved", "saved", "saved"])
    }

    @Test("a participant deleting the root leaves, and its deletions of members are withdrawn")
    func leavesByRoot() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, delete("leaf"), delete("child"), delete("root"))
        #expect(answer.results == ["deleted", "deleted", "deleted"])
        #expect(
            try await server.lookup("Z", "root", "child", "leaf", "share-root").results
                == ["saved", "saved", "saved", "saved"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "root").code == "ZONE_NOT_FOUND")
    }

    @Test("a participant deleting the zone in the shared database leaves its shares")
    func leavesByZone() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.deleteZone("Z", of: .alice, scope: .shared, as: .bob)
        #expect(answer.json["zones"]?.array?.first?["deleted"] == true)
        #expect(try await server.lookup("Z", "root").results == ["saved"])
        #expect(
            try await server.call(.zonesList, .shared, as: .bob).json["zones"]?.array?.isEmpty
                == true)
    }

    @Test("the owner deleting the root with its children deletes the share")
    func deletesRoot() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        // What hangs on another record keeps that.
        let refused = try await server.modify("Z", delete("child"))
        #expect(refused.results == ["VALIDATING_REFERENCE_ERROR"])
        let answer = try await server.modify("Z", delete("root"), delete("child"), delete("leaf"))
        #expect(answer.results == ["deleted", "deleted", "deleted"])
        #expect(try await server.lookup("Z", "share-root").results == ["NOT_FOUND"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "root").code == "ZONE_NOT_FOUND")
    }
}
