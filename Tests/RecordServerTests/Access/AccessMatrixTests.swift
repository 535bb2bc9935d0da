import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Every endpoint of the route table with every kind of identifier, as everybody.
@Suite("Access matrix", .everyTransport) struct AccessMatrixTests {
    @Test(
        "each role gets from each endpoint what the table says, and changes nothing else",
        arguments: AccessRole.allCases)
    func cells(_ role: AccessRole) async throws {
        var scene = try await AccessScene(role)
        var fresh = try await scene.state()
        for endpoint in Endpoint.allCases {
            for probe in AccessProbe.all(endpoint) {
                try await check(endpoint, probe, scene)
            }
            try await checkStrays(endpoint, scene)
            // What was only asked is there for the next one as it was.
            guard try await scene.state() != fresh else { continue }
            scene = try await AccessScene(role)
            fresh = try await scene.state()
        }
    }

    @Test("every endpoint and every role has its cells", arguments: Endpoint.allCases)
    func complete(_ endpoint: Endpoint) {
        let probes = AccessProbe.all(endpoint)
        #expect(!probes.isEmpty)
        for probe in probes {
            for role in AccessRole.allCases { #expect(probe.expected[role] != nil) }
            #expect(probe.scope.map(endpoint.scopes.contains) ?? true)
        }
    }

    @Test("a name inside a random GUID does not make two answers differ")
    func nameInGUID() {
        let reply = AccessScene.Reply(status: 200, text: #"{"value":"QL4vHd-9"}"#, json: .null)
        let twin = AccessScene.Reply(status: 200, text: #"{"value":"9-dHv4LQ"}"#, json: .null)
        #expect(
            reply.comparable(without: ["d-9", "QL4vHd-9"])
                == twin.comparable(without: ["d-1", "9-dHv4LQ"]))
    }

    private func check(_ endpoint: Endpoint, _ probe: AccessProbe, _ scene: AccessScene)
        async throws
    {
        let role = scene.role
        let cell =
            "\(endpoint.rawValue) as \(role.rawValue) by \(probe.kind.rawValue) \(probe.what)"
        let scope = probe.scope ?? role.scope
        let before = try await scene.state()
        let reply = try await scene.call(endpoint, scope, probe.body(scene.ids))
        let after = try await scene.state()
        let expected = try #require(probe.expected[role])
        let outcome = try outcome(reply, hasChanged: before != after, sight: probe.sight)
        #expect(outcome == expected, "\(cell): \(reply.status) \(reply.text)")
        checkSecrets(reply, outcome, role, cell)
        if case .refused(let code) = outcome {
            #expect(before == after, "\(cell): what is stored has changed")
            let status = reply.json.code == nil ? 200 : code.httpStatus
            #expect(reply.status == status, "\(cell): \(reply.text)")
        }
        guard outcome.hidesExistence else { return }
        let nothing = scene.ids.twin(inZone: outcome == .notFound)
        let twin = try await scene.call(endpoint, scope, probe.body(nothing))
        #expect(
            twin.status == reply.status
                && twin.comparable(without: nothing.names)
                    == reply.comparable(without: scene.ids.names),
            "\(cell): \(reply.text) is not as for what does not exist: \(twin.text)")
    }

    private func outcome(_ reply: AccessScene.Reply, hasChanged: Bool, sight: String) throws
        -> AccessOutcome
    {
        if let code = reply.code { return .refused(try #require(ServerErrorCode(rawValue: code))) }
        if hasChanged { return .done }
        return reply.text.contains(sight) ? .sees : .answers
    }

    private func checkSecrets(
        _ reply: AccessScene.Reply, _ outcome: AccessOutcome, _ role: AccessRole, _ cell: String
    ) {
        guard role != .owner else { return }
        for secret in AccessScene.secrets {
            #expect(!reply.text.contains(secret), "\(cell) shows a secret: \(reply.text)")
        }
        switch outcome {
        case .sees, .done: break
        case .answers, .refused:
            #expect(!reply.text.contains(AccessScene.canary), "\(cell) shows \(reply.text)")
        }
    }

    /// Identifiers that the endpoint does not take: its answer is as without them.
    private func checkStrays(_ endpoint: Endpoint, _ scene: AccessScene) async throws {
        let taken = Set(AccessProbe.all(endpoint).map(\.kind))
        let scope = endpoint.scopes.contains(scene.role.scope) ? scene.role.scope : .public
        let plain = try await scene.call(endpoint, scope, [:])
        let expected = plain.comparable(without: [])
        for kind in AccessIDKind.allCases where !taken.contains(kind) {
            guard let body = scene.ids.stray(kind) else { continue }
            let reply = try await scene.call(endpoint, scope, body)
            #expect(
                reply.status == plain.status && reply.comparable(without: []) == expected,
                """
                \(endpoint.rawValue) as \(scene.role.rawValue) by stray \(kind.rawValue): \
                \(reply.text) is not \(plain.text)
                """)
        }
    }
}
