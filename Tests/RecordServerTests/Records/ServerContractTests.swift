import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// What client engines expect of a record server, numbers 65 to 91 of the acceptance checklist
/// (SQLiteData's MockCloudDatabaseTests), through the router and over a socket. 76 to 79 are about
/// accounts of a device and have one counterpart here: no account.
@Suite("The contract of a record server") struct ServerContractTests {
    private func server(_ transport: TestServer.Transport) async throws -> TestServer {
        let server = try await TestServer(transport)
        try await server.makeZone("Z")
        return server
    }

    @Test(
        "65, 70, 73, 75: an unknown zone is ZONE_NOT_FOUND to fetch, save, delete and to delete it",
        arguments: TestServer.Transport.allCases)
    func unknownZone(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        #expect(try await server.lookup("Y", "a").code == "ZONE_NOT_FOUND")
        #expect(try await server.modify("Y", create("a")).code == "ZONE_NOT_FOUND")
        #expect(try await server.modify("Y", delete("a")).code == "ZONE_NOT_FOUND")
        let zones = try await server.deleteZone("Y").json["zones"]?.array
        #expect(zones?.first?["serverErrorCode"] == "ZONE_NOT_FOUND")
    }

    @Test("66: an unknown record is NOT_FOUND", arguments: TestServer.Transport.allCases)
    func unknownRecord(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        #expect(try await server.lookup("Z", "a").results == ["NOT_FOUND"])
    }

    @Test(
        "68, 69: a child may come before its parent in a batch, and not without it",
        arguments: TestServer.Transport.allCases)
    func childAndParent(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        let alone = try await server.modify("Z", create("child", parent: "parent"))
        #expect(alone.results == ["VALIDATING_REFERENCE_ERROR"])
        let both = try await server.modify(
            "Z", create("child", parent: "parent"), create("parent"))
        #expect(both.results == ["saved", "saved"])
    }

    @Test(
        "71, 72, 74: parents go with their children and not alone, what is unknown always",
        arguments: TestServer.Transport.allCases)
    func deletions(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        try await server.modify("Z", create("parent"), create("child", parent: "parent"))
        #expect(
            try await server.modify("Z", delete("parent")).results
                == ["VALIDATING_REFERENCE_ERROR"])
        #expect(
            try await server.modify("Z", delete("parent"), delete("child")).results
                == ["deleted", "deleted"])
        #expect(try await server.modify("Z", delete("nobody")).results == ["deleted"])
    }

    @Test("76-79: without an account nothing private is answered")
    func noAccount() async throws {
        let server = try await server(.router)
        #expect(
            try await server.modify("Z", as: .anonymous, create("a")).code
                == "AUTHENTICATION_REQUIRED")
        #expect(
            try await server.lookup("Z", as: .anonymous, "a").code == "AUTHENTICATION_REQUIRED")
    }

    @Test(
        "80, 81: a share is saved with its root the first time, alone afterwards",
        arguments: TestServer.Transport.allCases)
    func shareAndRoot(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        try await server.modify("Z", create("root"))
        #expect(
            try await server.modify("Z", TestServer.shareOperation("root")).results
                == ["BAD_REQUEST"])
        let both = try await server.modify(
            "Z", TestServer.shareOperation("root"), force("root"))
        #expect(both.results == ["saved", "saved"])
        let alone = try await server.modify(
            "Z", operation("update", "share-root", type: "cloudkit.share", tag: both.tag()))
        #expect(alone.results == ["saved"])
    }

    @Test(
        "82: a save with the tag of a record that was deleted since is NOT_FOUND",
        arguments: TestServer.Transport.allCases)
    func deletedSince(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        let made = try await server.modify("Z", create("a"))
        try await server.modify("Z", delete("a"))
        #expect(
            try await server.modify("Z", update("a", [:], tag: made.tag())).results
                == ["NOT_FOUND"])
    }

    @Test(
        "83, 84, 85: who may save into a share, and what deleting it takes along",
        arguments: TestServer.Transport.allCases)
    func shares(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        try await server.modify("Z", create("root"), create("leaf", parent: "root"))
        try await server.share("Z", "root", with: [.bob: "READ_WRITE", .carol: "READ_WRITE"])
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, create("loose")).results
                == ["ACCESS_DENIED"])
        #expect(
            try await server.modify("Z", of: .alice, as: .bob, delete("share-root")).results
                == ["deleted"])
        #expect(
            try await server.lookup("Z", of: .alice, as: .carol, "root", "leaf").results
                == ["saved", "saved"])
        #expect(try await server.modify("Z", delete("share-root")).results == ["deleted"])
        #expect(try await server.lookup("Z", "root", "leaf").results == ["saved", "saved"])
    }

    @Test(
        "86: a failed atomic batch marks the innocents and changes nothing",
        arguments: TestServer.Transport.allCases)
    func rollsBack(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        try await server.modify("Z", create("taken"))
        let answer = try await server.modify("Z", create("a"), create("taken"), delete("taken-2"))
        #expect(answer.results == ["ATOMIC_ERROR", "CONFLICT", "ATOMIC_ERROR"])
        #expect(try await server.changes("Z").names == ["taken"])
    }

    @Test(
        "87, 88: requests to modify and to fetch are bounded",
        arguments: TestServer.Transport.allCases)
    func bounded(_ transport: TestServer.Transport) async throws {
        let server = try await server(transport)
        let many = (0...200).map { "n-\($0)" }
        let saves = try await server.call(
            .recordsModify, .private,
            ["zoneID": TestServer.zone("Z"), "operations": .array(many.map { create($0) })])
        #expect(saves.code == "LIMIT_EXCEEDED")
        let names = many.map { name -> JSONValue in ["recordName": JSONValue(name)] }
        let fetches = try await server.call(
            .recordsLookup, .private,
            ["zoneID": TestServer.zone("Z"), "records": .array(names)])
        #expect(fetches.code == "LIMIT_EXCEEDED")
    }
}
