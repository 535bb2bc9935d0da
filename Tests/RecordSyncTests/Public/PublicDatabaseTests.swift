import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// The public database has no feed: what others have done there is found by queries.
@Suite struct PublicDatabaseTests {
    static let zone = "_defaultZone"
    let server: TestServer
    let a: Replica
    let b: Replica

    init() async throws {
        server = try await TestServer { configuration in
            // Small pages, so that there are many.
            configuration.service.maximumResults = 2
        }
        a = try Replica(server, as: .alice, in: .public)
        b = try Replica(server, as: .bob, in: .public)
    }

    /// `mkdir public/_defaultZone/TYPE`.
    private func mirror(_ type: String = "Note", on replica: Replica) throws {
        try replica.store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.public, .me, ZoneName(Self.zone))
            _ = try transaction.makeType(zone.id, RecordTypeName(type))
        }
    }

    private func tree(_ replica: Replica) throws -> [String: String] {
        try replica.tree(zone: Self.zone)
    }

    @Test("what somebody makes is where others have a directory of the type")
    func appears() async throws {
        for name in ["p", "q", "r", "s", "t"] {
            try a.save(name, #"{"n":1}"#, zone: Self.zone)
        }
        try await a.exchange.round()
        try await b.exchange.round()
        #expect(try tree(b).isEmpty)
        try mirror(on: b)
        try await b.exchange.round()
        #expect(try tree(b) == tree(a))
        #expect(try tree(b).count == 5)
        try b.expectSound()
    }

    @Test(
        "edits and deletions elsewhere come with the next comparison, and to the trash what is gone"
    )
    func editsAndDeletions() async throws {
        for name in ["p", "q", "r"] { try a.save(name, #"{"n":1}"#, zone: Self.zone) }
        try await a.exchange.round()
        try mirror(on: b)
        try await b.exchange.round()
        try a.save("p", #"{"n":2}"#, zone: Self.zone)
        try a.delete("q", zone: Self.zone)
        try a.save("s", #"{"n":3}"#, zone: Self.zone)
        try await a.exchange.round()
        try await b.exchange.round()
        #expect(try tree(b) == ["p": #"{"n":2}"#, "r": #"{"n":1}"#, "s": #"{"n":3}"#])
        let zone = try #require(try b.store.zone(.public, .me, ZoneName(Self.zone)))
        #expect(try b.store.past.trash(in: zone.id).map(\.name.description) == ["q"])
        _ = b.wire.takeSent()
        try await b.exchange.round()
        #expect(Set(b.wire.takeSent()) == [.recordsQuery], "nothing is looked up without a reason")
    }

    @Test("between two comparisons only what was modified since is asked for")
    func news() async throws {
        for number in 0..<20 { try a.save("n\(number)", #"{"n":1}"#, zone: Self.zone) }
        try await a.exchange.round()
        try mirror(on: b)
        let exchange = b.exchange
        try await exchange.round()
        exchange.putOffComparison(of: RecordTypeName("Note"))
        for name in ["n7", "n8"] {
            // Longer than the overlap.
            server.clock.advance(.seconds(600))
            try a.save(name, #"{"n":2}"#, zone: Self.zone)
            try await a.exchange.round()
            _ = b.wire.takeSent()
            try await exchange.round()
            #expect(try b.text(name, zone: Self.zone) == #"{"n":2}"#)
        }
        #expect(b.wire.takeSent() == [.recordsQuery])
    }

    @Test("what a list does not have, and the server has, stays")
    func listedTooLate() async throws {
        try a.save("p", #"{"n":1}"#, zone: Self.zone)
        try a.save("q", #"{"n":1}"#, zone: Self.zone)
        try await a.exchange.round()
        try mirror(on: b)
        try await b.exchange.round()
        // The list is told while the record is away for a moment.
        try a.delete("q", zone: Self.zone)
        try await a.exchange.round()
        b.wire.plan(
            .recordsLookup,
            .meanwhile { [a] in
                try a.save("q", #"{"n":2}"#, zone: Self.zone)
                try await a.exchange.round()
            })
        try await b.exchange.round()
        #expect(try tree(b) == ["p": #"{"n":1}"#, "q": #"{"n":2}"#])
        let zone = try #require(try b.store.zone(.public, .me, ZoneName(Self.zone)))
        #expect(try b.store.past.trash(in: zone.id).isEmpty)
    }

    @Test("what only its maker may change is refused, with the reason, and stays there")
    func refused() async throws {
        try a.save("p", #"{"n":1}"#, zone: Self.zone)
        try a.save("q", #"{"n":1}"#, zone: Self.zone)
        try await a.exchange.round()
        try mirror(on: b)
        try await b.exchange.round()
        try b.save("p", #"{"n":2}"#, zone: Self.zone)
        try b.delete("q", zone: Self.zone)
        try await b.exchange.round()
        #expect(try b.outbox() == ["update p? ACCESS_DENIED", "delete q? ACCESS_DENIED"])
        try await b.exchange.round()
        try await a.exchange.round()
        #expect(try tree(a) == ["p": #"{"n":1}"#, "q": #"{"n":1}"#])
        #expect(try tree(b) == ["p": #"{"n":2}"#])
    }

    @Test("two machines of the maker merge their edits by field")
    func merged() async throws {
        let other = try Replica(server, as: .alice, in: .public)
        try a.save("p", #"{"n":1,"t":"x"}"#, zone: Self.zone)
        try await a.exchange.round()
        try mirror(on: other)
        try await other.exchange.round()
        try a.save("p", #"{"n":2,"t":"x"}"#, zone: Self.zone)
        try other.save("p", #"{"n":1,"t":"y"}"#, zone: Self.zone)
        try await a.exchange.round()
        try await other.sync()
        try await a.sync()
        #expect(try tree(a) == ["p": #"{"n":2,"t":"y"}"#])
        #expect(try tree(other) == tree(a))
    }

    @Test(
        "the types of the settings are mirrored, whether or not they have a directory, and no others"
    )
    func types() async throws {
        let c = try Replica(server, as: .carol, in: .public) { settings in
            settings.policy.publicTypes = [RecordTypeName("Station")]
        }
        try a.save("p", #"{"n":1}"#, zone: Self.zone)
        try await a.exchange.round()
        try mirror("Note", on: c)
        try await c.exchange.round()
        let zone = try #require(try c.store.zone(.public, .me, ZoneName(Self.zone)))
        #expect(try c.store.types(in: zone.id).map(\.name.description) == ["Note", "Station"])
        #expect(try tree(c).isEmpty)
    }

    @Test("where the schema has no index of times, all names are compared each time")
    func withoutIndex() async throws {
        try a.save("p", #"{"n":1}"#, zone: Self.zone)
        try await a.exchange.round()
        try mirror(on: b)
        let exchange = b.exchange
        b.wire.plan(.recordsQuery, .refused(ServerError(.badRequest, "no index")))
        try await exchange.round()
        #expect(try tree(b) == ["p": #"{"n":1}"#])
        exchange.putOffComparison(of: RecordTypeName("Note"))
        try a.delete("p", zone: Self.zone)
        try await a.exchange.round()
        b.wire.plan(.recordsQuery, .refused(ServerError(.badRequest, "no index")))
        try await exchange.round()
        #expect(try tree(b).isEmpty)
    }

    @Test("a list that breaks off removes nothing")
    func brokenList() async throws {
        for name in ["p", "q", "r", "s", "t"] {
            try a.save(name, #"{"n":1}"#, zone: Self.zone)
        }
        try await a.exchange.round()
        try mirror(on: b)
        try await b.exchange.round()
        b.wire.plan(nil, nil, .requestLost)
        await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        #expect(try tree(b).count == 5)
        try await b.exchange.round()
        #expect(try tree(b) == tree(a))
    }

    @Test("there are no zones but one in the public database, and that one stays")
    func oneZone() async throws {
        #expect(throws: RecordError.self) { try a.save("p", "{}", zone: "Own") }
        try mirror(on: a)
        let zone = try #require(try a.store.zone(.public, .me, ZoneName(Self.zone)))
        try a.store.write(author: .mount) { transaction throws(RecordError) in
            let type = try self.a.store.type(zone.id, RecordTypeName("Note"))
            if let type { try transaction.removeType(type.id) }
        }
        #expect(throws: RecordError.self) {
            try a.store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.removeZone(zone.id)
            }
        }
    }

    @Test(
        "random histories of two machines end in equal trees, also by Apple's reference alone",
        arguments: LongForm.seeds(20, of: 500))
    func converges(_ seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        let isStrict = seed % 2 == 0
        let server = try await TestServer { configuration in
            configuration.service.maximumResults = 2
            configuration.service.isStrict = isStrict
        }
        let replicas = try (0..<2).map { _ in
            try Replica(server, as: .alice, in: .public) { settings in
                if isStrict { settings = Exchange.Settings(profile: .cloudkit) }
            }
        }
        let a = replicas[0]
        for replica in replicas { try mirror(on: replica) }
        for _ in 0..<40 {
            server.clock.advance(.milliseconds(random.below(3_000)))
            let replica = random.pick(replicas)
            let name = random.pick(["p", "q", "r", "s"])
            switch random.below(8) {
            case 0, 1, 2:
                let (field, other) = random.below(2) == 0 ? ("n", "m") : ("m", "n")
                try replica.save(
                    name, #"{"\#(field)":\#(random.below(99)),"\#(other)":1}"#, zone: Self.zone)
            case 3: try replica.delete(name, zone: Self.zone)
            default:
                if random.below(3) == 0 {
                    for _ in 0..<random.below(4) { replica.wire.plan(nil) }
                    replica.wire.plan(random.pick([.requestLost, .answerLost]))
                }
                do throws(SyncProblem) {
                    try await replica.exchange.round()
                } catch {
                    guard case .unreachable = error else { throw error }
                }
                replica.wire.forgetPlan()
            }
        }
        for _ in 0..<3 { for replica in replicas { try await replica.sync() } }
        for replica in replicas {
            #expect(try replica.outbox() == [], "seed \(seed)")
            #expect(try tree(replica) == tree(a), "seed \(seed)")
            try replica.expectSound()
            guard isStrict else { continue }
            for (operation, body) in replica.wire.takeRequests() {
                #expect(DocumentedBody.problems(operation, body) == [], "seed \(seed)")
            }
        }
    }
}
