import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("What participants see and may do") struct ShareParticipantTests {
    private func server() async throws -> TestServer {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify(
            "Z", create("root"), create("child", parent: "root"),
            create("leaf", parent: "child"), create("other"))
        return server
    }

    @Test("a participant sees the share, the root and what hangs on it, and nothing else")
    func participantView() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.lookup(
            "Z", of: .alice, as: .bob, "root", "child", "leaf", "share-root", "other", "nothing")
        #expect(
            answer.results == ["saved", "saved", "saved", "saved", "NOT_FOUND", "NOT_FOUND"])
        #expect(answer.reasons.count == 2)
        #expect(Set(answer.reasons).count == 1)
        let feed = try await server.allChanges("Z", of: .alice, as: .bob, limit: 2)
        #expect(Set(feed.names) == ["root", "child", "leaf", "share-root"])
        let mine = answer.records.dropFirst(3).first?["currentUserParticipant"]
        #expect(mine?["permission"] == "READ_WRITE")
        #expect(mine?["acceptanceStatus"] == "ACCEPTED")
        #expect(
            try await server.lookup("Z", of: .alice, as: .carol, "root").code
                == "ZONE_NOT_FOUND")
    }

    @Test("with READ_WRITE a participant changes members and adds below them, in the owner's zone")
    func participantWrites() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, force("child", ["t": text("bob's")]),
            create("deep", parent: "new"), create("new", parent: "leaf"))
        #expect(answer.results == ["saved", "saved", "saved"])
        let owned = try await server.lookup("Z", "deep", "child")
        #expect(owned.results == ["saved", "saved"])
        let bob = TestServer.Person.bob.user.map { JSONValue.string(Text(utf8: $0.bytes)) }
        #expect(owned.records.first?["created"]?["userRecordName"] == bob)
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, delete("deep")).results
                == ["deleted"])
    }

    @Test("a record without a shared parent is refused with ACCESS_DENIED")
    func needsSharedParent() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, atomic: false, create("loose"),
            create("below", parent: "loose"), create("hidden", parent: "other"),
            operation("forceUpdate", "leaf", nil, ["parent": .null]))
        #expect(
            answer.results == [
                "ACCESS_DENIED", "ACCESS_DENIED", "VALIDATING_REFERENCE_ERROR", "ACCESS_DENIED",
            ])
    }

    @Test("with READ_ONLY every write is refused and every read is answered")
    func readOnly() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, atomic: false, force("child"),
            create("new", parent: "root"), delete("leaf"), force("other"), delete("nothing"))
        #expect(
            answer.results == [
                "ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED", "ACCESS_DENIED",
                "deleted",
            ])
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, delete("other")).results
                == ["deleted"])
        #expect(try await server.lookup("Z", "other", "leaf").results == ["saved", "saved"])
    }

    @Test("only the owner makes shares")
    func participantsDoNotShare() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, TestServer.shareOperation("leaf"), force("leaf"))
        #expect(answer.results == ["ACCESS_DENIED", "ATOMIC_ERROR"])
    }

    @Test("the share of a zone shows every record, present and future")
    func zoneWide() async throws {
        let server = try await server()
        let made = try await server.share("Z", nil, with: [.bob: "READ_WRITE"])
        #expect(made.records.first?["recordName"] == "cloudkit.zoneshare")
        let feed = try await server.allChanges("Z", of: .alice, as: .bob)
        #expect(Set(feed.names) == ["root", "child", "leaf", "other", "cloudkit.zoneshare"])
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, create("loose")).results
                == ["saved"])
        try await server.modify("Z", delete("loose"))
        let next = try await server.changes("Z", of: .alice, as: .bob, since: feed.token)
        #expect(next.names == ["-loose"])
    }

    @Test("a record that moves into a hierarchy appears with what is below, and goes out with it")
    func moves() async throws {
        let server = try await server()
        try await server.modify("Z", create("below", parent: "other"))
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        let start = try await server.changes("Z", of: .alice, as: .bob)
        let tag = try await server.lookup("Z", "below").tag()
        try await server.modify("Z", force("other", parent: "leaf"))
        let entered = try await server.changes("Z", of: .alice, as: .bob, since: start.token)
        #expect(Set(entered.names) == ["other", "below"])
        #expect(try await server.lookup("Z", of: .alice, as: .bob, "below").tag() == tag)
        try await server.modify("Z", operation("forceUpdate", "other", nil, ["parent": .null]))
        let left = try await server.changes("Z", of: .alice, as: .bob, since: entered.token)
        #expect(Set(left.names) == ["-other", "-below"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .bob, "below").results
                == ["NOT_FOUND"])
        let both = try await server.changes("Z", of: .alice, as: .bob, since: start.token)
        #expect(Set(both.names) == ["-other", "-below"])
    }

    @Test("a move between two hierarchies leaves the one and enters the other")
    func movesBetween() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        try await server.share("Z", "other", with: [.carol: "READ_ONLY"])
        let bob = try await server.changes("Z", of: .alice, as: .bob)
        let carol = try await server.changes("Z", of: .alice, as: .carol)
        try await server.modify("Z", force("child", parent: "other"))
        #expect(
            Set(try await server.changes("Z", of: .alice, as: .bob, since: bob.token).names)
                == ["-child", "-leaf"])
        #expect(
            Set(try await server.changes("Z", of: .alice, as: .carol, since: carol.token).names)
                == ["child", "leaf"])
    }

    @Test("a deleted member is gone for participants too")
    func deletedMember() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        let start = try await server.changes("Z", of: .alice, as: .bob)
        try await server.modify("Z", delete("leaf"), delete("other"))
        #expect(
            try await server.changes("Z", of: .alice, as: .bob, since: start.token).names
                == ["-leaf"])
    }

    @Test("a participant takes nothing along that it cannot see")
    func cascadeOfParticipant() async throws {
        let server = try await server()
        try await server.modify("Z", create("private", ["r": reference("leaf", "DELETE_SELF")]))
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let answer = try await server.modify("Z", of: .alice, as: .bob, delete("leaf"))
        #expect(answer.results == ["VALIDATING_REFERENCE_ERROR"])
        #expect(try await server.lookup("Z", "private", "leaf").results == ["saved", "saved"])
    }

    @Test("what a participant writes counts for the owner's quota")
    func ownersQuota() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_WRITE"])
        let long = text(String(repeating: "x", count: 2_000))
        try await server.changeUser(.alice) { $0.quotaBytes = 1_000 }
        let answer = try await server.modify(
            "Z", of: .alice, as: .bob, create("big", ["t": long], parent: "root"))
        #expect(answer.results == ["QUOTA_EXCEEDED"])
        try await server.changeUser(.alice) { $0.quotaBytes = 10_000 }
        try await server.changeUser(.bob) { $0.quotaBytes = 1 }
        let fits = try await server.modify(
            "Z", of: .alice, as: .bob, create("big", ["t": long], parent: "root"))
        #expect(fits.results == ["saved"])
    }

    @Test("a token of a shared view expires when the set of accepted shares changes")
    func viewTokens() async throws {
        let server = try await server()
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        let token = try await server.changes("Z", of: .alice, as: .bob).token
        try await server.share("Z", "other", with: [.bob: "READ_ONLY"])
        #expect(
            try await server.changes("Z", of: .alice, as: .bob, since: token).code
                == "CHANGE_TOKEN_EXPIRED")
        #expect(
            try await server.changes("Z", of: .alice, as: .bob).names.contains("other"))
        let own = try await server.changes("Z").token
        #expect(
            try await server.changes("Z", of: .alice, as: .bob, since: own).code
                == "CHANGE_TOKEN_EXPIRED")
    }

    @Test("the shared database's feed tells of zones that come, change visibly, and go")
    func sharedDatabaseFeed() async throws {
        let server = try await server()
        func page(_ since: JSONValue?) async throws -> JSONValue {
            let body = since.map { [JSONMember(key: "syncToken", value: $0)] } ?? []
            return try await server.call(.changesDatabase, .shared, as: .bob, .object(body)).json
        }
        let empty = try await page(nil)
        #expect(empty["zones"] == [])
        try await server.share("Z", "root", with: [.bob: "READ_ONLY"])
        let come = try await page(empty["syncToken"])
        #expect(come["zones"]?.array?.count == 1)
        #expect(come["zones"]?.array?.first?["zoneID"]?["zoneName"] == "Z")
        try await server.modify("Z", force("other"))
        let hidden = try await page(come["syncToken"])
        #expect(hidden["zones"] == [])
        try await server.modify("Z", force("leaf"))
        let seen = try await page(hidden["syncToken"])
        #expect(seen["zones"]?.array?.count == 1)
        try await server.modify("Z", delete("share-root"))
        let gone = try await page(seen["syncToken"])
        #expect(gone["zones"]?.array?.first?["deleted"] == true)
        #expect(try await page(gone["syncToken"])["zones"] == [])
    }
}
