import HTTPTypes
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

/// What clients of the original service expect beyond its text.
@Suite("Expectations of other clients", .everyTransport) struct ExpectationTests {
    private func user(_ person: TestServer.Person) -> String {
        String(decoding: person.user?.bytes ?? [], as: UTF8.self)
    }

    @Test("users/current and users/caller answer in every database")
    func usersAnywhere() async throws {
        let server = try await TestServer()
        for endpoint in [Endpoint.usersCurrent, .usersCaller] {
            for scope in [DatabaseScope.public, .private, .shared] {
                let answer = try await server.call(endpoint, scope)
                #expect(answer.json.at("userRecordName").words == user(.alice), "\(answer.text)")
                let anonymous = try await server.call(endpoint, scope, as: .anonymous)
                #expect(anonymous.status == 421)
            }
        }
    }

    // MARK: Users records

    @Test("who signs in has a Users record in the public database, and one only")
    func usersRecord() async throws {
        let server = try await TestServer()
        for person in [TestServer.Person.alice, .bob] { _ = try await server.token(of: person) }
        let found = try await server.lookup(
            nil, scope: .public, as: .anonymous, user(.alice), user(.bob), user(.carol))
        #expect(found.results == ["saved", "saved", "NOT_FOUND"], "\(found.text)")
        for (record, person) in zip(found.records, [TestServer.Person.alice, .bob]) {
            #expect(record.at("recordType") == "Users")
            #expect(record.at("created.userRecordName").words == user(person))
            #expect(record["fields"] == [:])
        }
        let again = try await server.authenticator.signIn(
            try #require(TestServer.Person.alice.user),
            container: ContainerKey(container: TestServer.container, environment: .development),
            staySignedIn: false, label: "second", now: server.clock.now)
        #expect(!again.isEmpty)
        let after = try await server.lookup(nil, scope: .public, user(.alice))
        #expect(after.tag() == found.tag())
        let other = try await server.call(
            .recordsLookup, .public, as: .bob, ["records": [["recordName": "x"]]],
            environment: .production)
        #expect(other.status == 200)
    }

    @Test("a Users record takes fields from its user and from nobody else")
    func usersFields() async throws {
        let server = try await TestServer()
        let tag = try await server.lookup(nil, scope: .public, user(.alice)).tag()
        let saved = try await server.modify(
            nil, scope: .public, update(user(.alice), ["nick": text("Al")], tag: tag))
        #expect(saved.results == ["saved"], "\(saved.text)")
        let foreign = try await server.modify(
            nil, scope: .public, as: .bob,
            operation("forceUpdate", user(.alice), type: "Users", ["nick": text("No")]))
        #expect(foreign.results == ["ACCESS_DENIED"])
        let second = try await server.modify(
            nil, scope: .public, create(user(.alice), type: "Users"))
        #expect(second.results == ["CONFLICT"])
        let seen = try await server.lookup(nil, scope: .public, as: .bob, user(.alice))
        #expect(seen.json.at("records.0.fields.nick") == text("Al"))
    }

    @Test("a Users record that is missing is made when its user asks who it is, or writes")
    func usersOfOldSessions() async throws {
        let server = try await TestServer()
        func remove() async throws {
            let gone = try await server.modify(nil, scope: .public, delete(user(.alice)))
            #expect(gone.results == ["deleted"])
            let found = try await server.lookup(nil, scope: .public, user(.alice))
            #expect(found.results == ["NOT_FOUND"])
        }
        try await remove()
        _ = try await server.call(.usersCurrent, .private)
        #expect(
            try await server.lookup(nil, scope: .public, user(.alice)).results == ["saved"])
        try await remove()
        try await server.modify(nil, scope: .public, create("note"))
        #expect(
            try await server.lookup(nil, scope: .public, user(.alice)).results == ["saved"])
    }

    // MARK: Shares

    private func shareAlone(_ root: String, tag: String?, _ server: TestServer) async throws
        -> TestServer.Answer
    {
        var target: JSONValue = ["recordName": JSONValue(root)]
        if let tag { target = target.with("recordChangeTag", JSONValue(tag)) }
        return try await server.modify(
            "Z",
            operation(
                "create", "share-\(root)", type: "cloudkit.share", [:],
                [
                    "forRecord": target, "publicPermission": "NONE",
                    "participants": [
                        [
                            "type": "USER", "permission": "READ_ONLY",
                            "userIdentity": [
                                "lookupInfo": ["userRecordName": JSONValue(user(.bob))]
                            ],
                        ]
                    ],
                ]))
    }

    @Test("a share can be saved alone, when forRecord has the root's change tag")
    func shareAlone() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify(
            "Z", create("root", ["s": text("x")]), create("leaf", parent: "root"),
            create("other"))
        let before = try await server.lookup("Z", "root")
        let feed = try await server.changes("Z")
        let made = try await shareAlone("root", tag: before.tag(), server)
        #expect(made.results == ["saved"], "\(made.text)")
        let guid = try #require(made.records.first?["shortGUID"]?.string)
        let root = try await server.lookup("Z", "root")
        #expect(root.json.at("records.0.share.recordName") == "share-root")
        #expect(root.json.at("records.0.shortGUID") == .string(guid))
        #expect(root.json.at("records.0.fields.s") == text("x"))
        #expect(root.tag() != before.tag())
        let changed = try await server.changes("Z", since: feed.token).names
        #expect(Set(changed).isSuperset(of: ["root", "share-root"]))
        try await server.accept(guid, as: .bob)
        let seen = try await server.lookup("Z", of: .alice, as: .bob, "root", "leaf", "other")
        #expect(seen.results == ["saved", "saved", "NOT_FOUND"], "\(seen.text)")
    }

    @Test("a share alone needs the root's present tag, and a root that is there and unshared")
    func shareAloneRefused() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        let tag = try await server.modify("Z", create("root")).tag()
        #expect(try await shareAlone("root", tag: nil, server).results == ["BAD_REQUEST"])
        #expect(try await shareAlone("root", tag: "zz", server).results == ["CONFLICT"])
        #expect(try await shareAlone("none", tag: tag, server).results == ["BAD_REQUEST"])
        #expect(try await server.changes("Z").names == ["root"])
        #expect(try await shareAlone("root", tag: tag, server).results == ["saved"])
        let shared = try await server.lookup("Z", "root").tag()
        let second = try await server.modify(
            "Z",
            operation(
                "create", "second", type: "cloudkit.share", [:],
                ["forRecord": ["recordName": "root", "recordChangeTag": JSONValue(shared)]]))
        #expect(second.results == ["ALREADY_SHARED"], "\(second.text)")
    }

    // MARK: Errors

    @Test("create of an existing name is CONFLICT in the words of the original, with the record")
    func existing() async throws {
        let server = try await TestServer()
        try await server.makeZone("Z")
        try await server.modify("Z", create("a", ["n": number(1)]))
        let answer = try await server.modify("Z", create("a", ["n": number(2)]))
        #expect(answer.results == ["CONFLICT"])
        #expect(answer.reasons.first?.contains("record to insert already exists") == true)
        #expect(answer.json.at("records.0.serverRecord.fields.n") == number(1))
    }

    @Test("a query of an unknown type is NOT_FOUND in the words of the original")
    func unknownType() async throws {
        let server = try await TestServer()
        for scope in [DatabaseScope.private, .public] {
            let answer = try await server.call(
                .recordsQuery, scope, ["query": ["recordType": "Nothing"]])
            #expect(answer.status == 404)
            #expect(answer.code == "NOT_FOUND")
            #expect(
                answer.json["reason"]?.string?.string.lowercased()
                    .contains("did not find record type") == true)
        }
    }

    // MARK: Transport

    @Test("environment and database in the path are the same in any letters")
    func letters() async throws {
        let server = try await TestServer()
        let query = try await server.query(as: .alice)
        for place in ["DEVELOPMENT/PRIVATE", "Development/private", "development/Private"] {
            let answer = try await server.request(
                .get, "/database/1/\(TestServer.container)/\(place)/zones/list\(query)")
            #expect(answer.status == 200, "\(place): \(answer.text)")
        }
        let wrong = try await server.request(
            .get, "/database/1/\(TestServer.container)/DEVELOPED/private/zones/list\(query)")
        #expect(wrong.status == 400)
    }

    @Test("the successor of a token comes in both headers, and ckSession brings it as well")
    func session() async throws {
        let server = try await TestServer()
        let first = try await server.call(.zonesList)
        let token = try #require(HTTPField.Name("X-Apple-CloudKit-Web-Auth-Token"))
        let session = try #require(HTTPField.Name("X-Apple-CloudKit-Session"))
        let successor = try #require(first.headers[token])
        #expect(first.headers[session] == successor)
        #expect(
            first.headers[.accessControlExposeHeaders]?.contains("X-Apple-CloudKit-Session")
                == true)
        let path = try await server.target(.zonesList).replacing(
            "ckWebAuthToken=", with: "ckSession=")
        #expect(path.contains("ckSession="))
        #expect(try await server.request(.get, path).status == 200)
    }

    @Test("sync tokens, markers and receipts are standard base64")
    func tokens() async throws {
        let fixture = try await AssetFixture()
        let server = fixture.server
        for number in 0..<3 { try await server.modify("Work", create("n-\(number)")) }
        let zone: JSONValue = ["zoneName": "Work"]
        let query: JSONValue = ["recordType": "Note"]
        let tokens = [
            try await server.changes("Work").json["syncToken"],
            try await server.call(.changesDatabase).json["syncToken"],
            try await server.call(.zonesLookup, .private, ["zones": [zone]]).json
                .at("zones.0.syncToken"),
            try await server.call(
                .recordsQuery, .private, ["zoneID": zone, "query": query, "resultsLimit": 1]
            ).json["continuationMarker"],
            try await fixture.upload([1]).receipt.map { .string($0) },
        ]
        for token in tokens {
            let text = try #require(token?.string)
            #expect(Base64.decode(text.utf8) != nil, "\(text)")
        }
    }

    // MARK: Assets without a record

    /// Asks for a URL and brings bytes, without a name of a record and without a zone.
    private func uploadNameless(_ server: TestServer, _ scope: DatabaseScope) async throws
        -> JSONValue
    {
        let tokens = try await server.call(
            .assetsUpload, scope, ["tokens": [["recordType": "Note", "fieldName": "image"]]])
        #expect(tokens.status == 200, "\(tokens.text)")
        let path = try AssetFixture.path(try #require(tokens.json.at("tokens.0.url").string))
        let answer = try await server.request(.post, path, body: pattern(10_000))
        #expect(answer.status == 200, "\(answer.text)")
        return try #require(answer.json["singleFile"])
    }

    @Test(
        "what is uploaded without a record name goes into many records with names of the client's own",
        arguments: [DatabaseScope.public, .private])
    func namelessUpload(_ scope: DatabaseScope) async throws {
        let server = try await TestServer()
        let file = try await uploadNameless(server, scope)
        let image: JSONValue = ["value": file]
        for number in 1...10 {
            let made = try await server.modify(
                nil, scope: scope,
                create(
                    "mine-\(number)",
                    [
                        "title": text("Record"), "index": ["value": JSONValue(Int64(number))],
                        "image": image,
                    ]))
            #expect(made.results == ["saved"], "\(made.text)")
        }
        let found = try await server.lookup(nil, scope: scope, "mine-1", "mine-10")
        for record in found.records {
            #expect(record.at("fields.image.value.size") == 10_000)
            let path = try AssetFixture.path(
                try #require(record.at("fields.image.value.downloadURL").string))
            #expect(try await server.request(.get, path).body == pattern(10_000))
        }
        let replaced = try await server.modify(
            nil, scope: scope,
            operation("forceReplace", "mine-1", type: "Note", ["title": text("Updated")]))
        #expect(replaced.results == ["saved"])
        // Its own field only, and its own user and database only.
        let other = try await server.modify(
            nil, scope: scope, create("other", ["photo": image]))
        #expect(other.results == ["BAD_REQUEST"])
        let elsewhere: DatabaseScope = scope == .public ? .private : .public
        let foreign = try await server.modify(
            nil, scope: elsewhere, create("foreign", ["image": image]))
        #expect(foreign.results == ["BAD_REQUEST"])
        let bobs = try await server.modify(
            nil, scope: scope, as: .bob, create("bobs", ["image": image]))
        #expect(bobs.results == ["BAD_REQUEST"])
    }

    @Test("people are discovered in the database where a client happens to be")
    func discoverAnywhere() async throws {
        let server = try await TestServer()
        for scope in [DatabaseScope.public, .private, .shared] {
            let found = try await server.call(
                .usersDiscover, scope,
                ["lookupInfos": [["userRecordName": JSONValue(user(.alice))]]])
            #expect(found.json.at("users.0.userRecordName").words == user(.alice), "\(found.text)")
            let looked = try await server.call(
                .usersLookupID, scope, ["users": [["userRecordName": JSONValue(user(.alice))]]])
            #expect(looked.status == 200, "\(looked.text)")
        }
    }

    @Test("a receipt serves its own record and field again and again, and nothing else")
    func receipts() async throws {
        let fixture = try await AssetFixture()
        let asset = JSONValue.object(try await fixture.upload([1, 2, 3]).members)
        let fields: JSONValue = ["photo": ConformanceAsset.field(asset)]
        let server = fixture.server
        for _ in 0..<2 {
            #expect(try await server.modify("Work", force("n-1", fields)).results == ["saved"])
        }
        // Also when what it was used for has gone.
        try await server.modify("Work", force("n-1", ["photo": ["value": .null]]))
        #expect(try await server.modify("Work", force("n-1", fields)).results == ["saved"])
        try await server.modify("Work", delete("n-1"))
        #expect(try await server.modify("Work", create("n-1", fields)).results == ["saved"])
        for other in [force("n-2", fields), force("n-1", ["cover": fields.at("photo")])] {
            #expect(try await server.modify("Work", other).results == ["BAD_REQUEST"])
        }
        server.clock.advance(.seconds(25 * 3600))
        try await server.modify("Work", force("n-1", ["photo": ["value": .null]]))
        #expect(try await server.modify("Work", force("n-1", fields)).results == ["BAD_REQUEST"])
    }
}
