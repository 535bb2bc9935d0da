import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Users") struct UserTests {
    private func change(
        _ fixture: SharingFixture, _ user: UserRow,
        _ change: @Sendable (inout UserRow) -> Void
    ) async throws {
        var row = user
        change(&row)
        let final = row
        try await fixture.storage.write { transaction throws(ServerError) in
            try transaction.putUser(final)
        }
    }

    private func names(_ answer: JSONValue) -> [String] {
        (answer.at("users").array ?? []).compactMap { $0["userRecordName"]?.string?.string }
    }

    @Test(
        "the caller is told who it is, in both shapes",
        arguments: [Endpoint.usersCaller, .usersCurrent])
    func caller(_ endpoint: Endpoint) async throws {
        let fixture = try await SharingFixture()
        let answer = try await fixture.answer(endpoint, .public, as: fixture.bob, isGet: true)
        for identity in [answer, answer.at("users.0")] {
            #expect(identity.at("userRecordName").string?.utf8 == fixture.bob.name.bytes)
            #expect(identity.at("nameComponents.givenName") == "Bob")
            #expect(identity.at("lookupInfo.emailAddress") == "bob@example.org")
        }
        #expect(answer.at("users").array?.count == 1)
        #expect(answer.at("firstName") == "Bob")
        #expect(answer.at("lastName") == "Brown")
    }

    @Test("all user endpoints need a user")
    func anonymous() async throws {
        let fixture = try await SharingFixture()
        for endpoint in [
            Endpoint.usersCaller, .usersCurrent, .usersDiscover, .usersLookupEmail,
            .usersLookupID, .usersLookupContacts,
        ] {
            await expect(.authenticationRequired) {
                try await fixture.answer(endpoint, .public, as: nil)
            }
        }
    }

    @Test("people are discovered by address in any case, by number and by name")
    func discover() async throws {
        let fixture = try await SharingFixture()
        try await change(fixture, fixture.carol) { $0.phoneNumber = "+15550100" }
        let answer = try await fixture.answer(
            .usersDiscover, .public, as: fixture.alice,
            [
                "lookupInfos": [
                    ["emailAddress": "BOB@Example.org"], ["phoneNumber": "+1 555 0100"],
                    ["userRecordName": .string(Text(utf8: fixture.dave.name.bytes))],
                    ["emailAddress": "nobody@example.org"],
                ]
            ])
        #expect(
            names(answer)
                == [fixture.bob, fixture.carol, fixture.dave].map { $0.name.description })
        #expect(answer.at("users.0.lookupInfo.emailAddress") == "bob@example.org")
        #expect(answer.at("users.0.nameComponents.familyName") == "Brown")
    }

    @Test("a lookup by name tells no address")
    func noAddressByName() async throws {
        let fixture = try await SharingFixture()
        let name = JSONValue.string(Text(utf8: fixture.bob.name.bytes))
        let found = try await fixture.answer(
            .usersDiscover, .public, as: fixture.alice,
            ["lookupInfos": [["userRecordName": name]]])
        let legacy = try await fixture.answer(
            .usersLookupID, .public, as: fixture.alice, ["users": [["userRecordName": name]]])
        for answer in [found, legacy] {
            #expect(names(answer) == [fixture.bob.name.description])
            #expect(!String(decoding: answer.serialized(), as: UTF8.self).contains("bob@"))
        }
    }

    @Test("who does not want to be found, and who is disabled, is as somebody who is not there")
    func hidden() async throws {
        let fixture = try await SharingFixture()
        try await change(fixture, fixture.bob) { $0.isDiscoverable = false }
        try await change(fixture, fixture.carol) { $0.isDisabled = true }
        for user in [fixture.bob, fixture.carol] {
            let name = JSONValue.string(Text(utf8: user.name.bytes))
            let address = JSONValue.string(user.emailAddress)
            for lookup: JSONValue in [["emailAddress": address], ["userRecordName": name]] {
                let answer = try await fixture.answer(
                    .usersDiscover, .public, as: fixture.alice, ["lookupInfos": [lookup]])
                #expect(answer == ["users": []])
            }
            let email = try await fixture.answer(
                .usersLookupEmail, .public, as: fixture.alice,
                ["users": [["emailAddress": address]]])
            let id = try await fixture.answer(
                .usersLookupID, .public, as: fixture.alice, ["users": [["userRecordName": name]]])
            #expect(email == ["users": []])
            #expect(id == ["users": []])
        }
        let own = try await fixture.answer(
            .usersDiscover, .public, as: fixture.bob,
            ["lookupInfos": [["emailAddress": "bob@example.org"]]])
        #expect(names(own) == [fixture.bob.name.description])
    }

    @Test("who was never asked is found in no way", .everyTransport)
    func unasked() async throws {
        let server = try await TestServer()
        let erin = try await server.addUser("erin")
        let name = try #require(erin.user)
        let address: JSONValue = ["emailAddress": "erin@example.org"]
        let own: JSONValue = ["userRecordName": .string(Text(utf8: name.bytes))]
        let calls: [(Endpoint, JSONValue)] = [
            (.usersDiscover, ["lookupInfos": [address]]), (.usersDiscover, ["lookupInfos": [own]]),
            (.usersLookupEmail, ["users": [address]]), (.usersLookupID, ["users": [own]]),
            (.usersLookupContacts, [:]),
        ]
        for (endpoint, body) in calls {
            let answer = try await server.call(endpoint, .public, as: .bob, body)
            #expect(answer.status == 200)
            #expect(!answer.text.contains(name.description), "\(endpoint)")
        }
        let list = try await server.request(
            .get, try await server.target(.usersDiscover, .public, as: .bob))
        #expect(!list.text.contains(name.description))
        try await server.changeUser(erin) { $0.isDiscoverable = true }
        for (endpoint, body) in calls {
            let answer = try await server.call(endpoint, .public, as: .bob, body)
            #expect(answer.text.contains(name.description), "\(endpoint)")
        }
    }

    @Test("GET discover lists who wants to be found, without addresses")
    func discoverAll() async throws {
        let fixture = try await SharingFixture()
        try await change(fixture, fixture.bob) { $0.isDiscoverable = false }
        let answer = try await fixture.answer(
            .usersDiscover, .public, as: fixture.alice, isGet: true)
        #expect(names(answer) == [fixture.carol, fixture.dave].map { $0.name.description })
        #expect(!String(decoding: answer.serialized(), as: UTF8.self).contains("@"))
        let contacts = try await fixture.answer(
            .usersLookupContacts, .public, as: fixture.alice)
        #expect(names(contacts) == names(answer))
        #expect(contacts.at("users.0.firstName") == "Carol")
    }

    @Test("lookup by e-mail answers with the older dictionary")
    func legacy() async throws {
        let fixture = try await SharingFixture()
        let answer = try await fixture.answer(
            .usersLookupEmail, .public, as: fixture.alice,
            ["users": [["emailAddress": "bob@example.org"]]])
        #expect(
            answer.at("users.0")
                == [
                    "userRecordName": .string(Text(utf8: fixture.bob.name.bytes)),
                    "firstName": "Bob", "lastName": "Brown", "emailAddress": "bob@example.org",
                ])
    }

    @Test("a lookup without its key is refused, with its place")
    func badBodies() async throws {
        let fixture = try await SharingFixture()
        let cases: [(Endpoint, JSONValue, String)] = [
            (.usersDiscover, [:], "lookupInfos"),
            (.usersDiscover, ["lookupInfos": [[:]]], "lookupInfos[0]"),
            (.usersDiscover, ["lookupInfos": [["emailAddress": 7]]], "lookupInfos[0]"),
            (.usersLookupEmail, ["users": [["userRecordName": "_x"]]], "users[0]"),
            (.usersLookupID, ["users": [["emailAddress": "a@b"]]], "users[0]"),
        ]
        for (endpoint, body, place) in cases {
            await expect(.badRequest, naming: place) {
                try await fixture.answer(endpoint, .public, as: fixture.alice, body)
            }
        }
    }

    @Test("more lookups than the limit are refused before any is done")
    func limit() async throws {
        var settings = ServiceSettings()
        settings.maximumItems = 1
        let fixture = try await SharingFixture(settings: settings)
        await expect(.limitExceeded) {
            try await fixture.answer(
                .usersDiscover, .public, as: fixture.alice,
                ["lookupInfos": [["emailAddress": "a@b"], ["emailAddress": "c@d"]]])
        }
    }
}
