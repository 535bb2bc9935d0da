import HTTPTypes
import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@Suite("Conformance: users", .serialized) struct ConformanceSection10 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    static let rows = ConformanceRows.of(callers, discover, lookups)

    private static func callers(_ rows: inout ConformanceRows) {
        for endpoint in [Endpoint.usersCaller, .usersCurrent] {
            rows.row("\(endpoint.rawValue) by GET: users and the same at the top") { s in
                let path = try await s.path(endpoint, .public)
                let answer = try await s.server.request(.get, path)
                #expect(answer.at("users.0.userRecordName") == ConformanceScene.user(.alice))
                #expect(answer.at("userRecordName") == ConformanceScene.user(.alice))
                #expect(answer.at("firstName") == "alice")
                #expect(answer.at("lastName") == "Example")
            }
            rows.row("\(endpoint.rawValue): 421 and redirectURL without a user") { s in
                let answer = try await s.call(endpoint, .public, as: .anonymous)
                #expect(answer.status == 421)
                #expect(answer.at("redirectURL").string != nil)
            }
        }
    }

    private static func discover(_ rows: inout ConformanceRows) {
        let lookups: [(String, JSONValue)] = [
            ("emailAddress", "bob@example.org"), ("phoneNumber", "+15550100"),
            ("userRecordName", ConformanceScene.user(.bob)),
        ]
        for (key, value) in lookups {
            rows.row("users/discover by POST: \(key)") { s in
                try await s.server.changeUser(.bob) { $0.phoneNumber = "+15550100" }
                let answer = try await s.call(
                    .usersDiscover, .public,
                    ["lookupInfos": [.object([JSONMember(key: Text(key), value: value)])]])
                #expect(answer.at("users").count == 1, "\(answer.text)")
                #expect(answer.at("users.0.userRecordName") == ConformanceScene.user(.bob))
            }
        }
        rows.row("users/discover by GET: all who agreed, answered 200") { s in
            let path = try await s.path(.usersDiscover, .public)
            let answer = try await s.server.request(.get, path)
            #expect(answer.status == 200)
            let names = (answer.at("users").array ?? []).map { $0.at("userRecordName") }
            #expect(names.contains(ConformanceScene.user(.bob)))
        }
        rows.row("users/discover: only people who agreed to be found") { s in
            let server = try await s.own()
            try await server.changeUser(.bob) { $0.isDiscoverable = false }
            let answer = try await server.call(
                .usersDiscover, .public, ["lookupInfos": [["emailAddress": "bob@example.org"]]])
            #expect(answer.at("users") == [])
        }
    }

    private static func lookups(_ rows: inout ConformanceRows) {
        rows.row("users/lookup/email") { s in
            let answer = try await s.call(
                .usersLookupEmail, .public, ["users": [["emailAddress": "bob@example.org"]]])
            #expect(answer.at("users.0.userRecordName") == ConformanceScene.user(.bob))
            #expect(answer.at("users.0.emailAddress") == "bob@example.org")
        }
        rows.row("users/lookup/id") { s in
            let answer = try await s.call(
                .usersLookupID, .public,
                ["users": [["userRecordName": ConformanceScene.user(.bob)]]])
            #expect(answer.at("users.0.firstName") == "bob")
        }
        rows.row("users/lookup/contacts") { s in
            let answer = try await s.call(.usersLookupContacts, .public)
            #expect(answer.status == 200)
            let names = (answer.at("users").array ?? []).map { $0.at("userRecordName") }
            #expect(names.contains(ConformanceScene.user(.carol)))
        }
    }
}
