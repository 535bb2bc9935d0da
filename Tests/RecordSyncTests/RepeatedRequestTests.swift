import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Testing

/// A request that uploads and has no answer comes again with the same bytes: what others have done
/// between the two is news, and not what was there before.
@Suite struct RepeatedRequestTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    /// How the answer of a request got lost.
    enum Loss: CaseIterable, Sendable {
        case answer
        case processAfter
        case processBefore

        fileprivate var fault: CoreTransport.Fault {
            switch self {
            case .answer: .answerLost
            case .processAfter: .crash(isAnswered: true)
            case .processBefore: .crash(isAnswered: false)
            }
        }
    }

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    private func lose(_ loss: Loss) async throws {
        a.wire.plan(.recordsModify, loss.fault)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(try a.restartAfterCrash() == (loss != .answer))
    }

    private func expectEqual(_ tree: [String: String]) throws {
        for replica in [a, b] { try replica.expectSettled(tree) }
    }

    @Test("what is too large for something on the way goes in smaller parts, and other zones go on")
    func tooLarge() async throws {
        var tree: [String: String] = [:]
        for number in 0..<60 {
            tree["r\(number)"] = #"{"n":\#(number)}"#
            try a.save("r\(number)", #"{"n":\#(number)}"#)
        }
        try a.save("other", "{}", zone: "Cup")
        a.wire.loseRequests(over: 1_500)
        let exchange = a.exchange
        await #expect(throws: SyncProblem.self) { try await exchange.round() }
        #expect(try a.outbox().count == 61)
        try await a.sendAll(with: exchange, rounds: 30)
        for replica in [a, b] { try await replica.sync() }
        try expectEqual(tree)
        #expect(try b.tree(zone: "Cup") == ["other": "{}"])
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }

    @Test("a record that never gets through is parked with the reason, and holds up no other")
    func tooLargeAlone() async throws {
        let text = #"{"p":"\#(String(repeating: "x", count: 5_000))"}"#
        try a.save("large", text)
        try a.save("small", "{}")
        a.wire.loseRequests(over: 3_000)
        try await a.sendAll(rounds: 40)
        #expect(
            try a.outbox() == [
                "create large? It does not get through, although the server answers other requests"
            ])
        try await b.sync()
        #expect(try b.tree() == ["small": "{}"])
        a.wire.loseRequests(over: .max)
        try a.store.syncState.retryParked()
        for replica in [a, b] { try await replica.sync() }
        try expectEqual(["large": text, "small": "{}"])
    }

    @Test("what was given up while nothing got through goes with the next that does, as it is")
    func outageOfUploads() async throws {
        let text = #"{ "p" : "\#(String(repeating: "x", count: 2_000))" }"#
        try a.save("x", #"{ "p" : "" }"#)
        try await a.sync()
        try a.save("x", text)
        a.wire.loseRequests(over: 1_500)
        let exchange = a.exchange
        try await a.sendAll(with: exchange, rounds: 40)
        try #require(try a.outbox().first?.hasPrefix("update x? It does not get through") == true)
        a.wire.loseRequests(over: .max)
        try a.save("y", "{}")
        try await a.sendAll(with: exchange, rounds: 2)
        #expect(try a.outbox() == [])
        try await b.sync()
        #expect(try b.files() == ["x": text, "y": "{}"])
    }

    @Test("nothing is given up while the server answers nobody")
    func unreachable() async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try a.save("x", #"{"p":2}"#)
        a.wire.plan(.recordsModify, .requestLost)
        let exchange = a.exchange
        await #expect(throws: SyncProblem.self) { try await exchange.round() }
        a.wire.loseRequests(over: 0)
        let zone = try #require(try a.store.syncState.zonesWithWork(in: .private).first)
        for _ in 0..<20 {
            await #expect(throws: SyncProblem.self) {
                try await exchange.upload(zone)
            }
        }
        a.wire.loseRequests(over: .max)
        try await exchange.round()
        let requests = a.wire.takeBodies(of: .recordsModify)
        #expect(Set(requests.suffix(22)).count == 1, "\(requests)")
        try await b.sync()
        try expectEqual(["x": #"{"p":2}"#])
    }

    @Test(
        "an upload whose answer got lost is sent again without a conflict or a second record",
        arguments: [true, false])
    func answerLost(hasExtensions: Bool) async throws {
        let c = try Replica(server) { $0.hasExtensions = hasExtensions }
        try c.save("x", #"{"p":1}"#)
        try await c.sync()
        try c.save("x", #"{"p":2}"#)
        try c.save("y", #"{"p":1}"#)
        c.wire.plan(.recordsModify, .answerLost)
        await #expect(throws: SyncProblem.self) { try await c.exchange.round() }
        #expect(try c.outbox().count == 2)
        try await c.sync()
        for replica in [a, b] { try await replica.sync() }
        try expectEqual(["x": #"{"p":2}"#, "y": #"{"p":1}"#])
        #expect(try c.tree() == a.tree())
        #expect(try c.outbox() == [])
        try c.expectSound()
    }

    @Test(
        "what was made, arrived and was deleted elsewhere is not made again",
        arguments: [Loss.answer, .processAfter])
    func deletedElsewhere(loss: Loss) async throws {
        try a.save("x", #"{"p":1}"#)
        try await lose(loss)
        try await b.sync()
        try b.delete("x")
        try await b.sync()
        try await a.sync()
        try await b.sync()
        try expectEqual([:])
        #expect(try a.conflicts() == [])
        // It is in the trash, as what others delete is.
        #expect(try a.store.syncState.counts().trash == 1)
    }

    @Test(
        "a field that was sent and removed elsewhere stays removed",
        arguments: [Loss.answer, .processAfter])
    func removedElsewhere(loss: Loss) async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try a.save("x", #"{"p":1,"q":2}"#)
        try await lose(loss)
        try await b.sync()
        try b.save("x", #"{"p":1}"#)
        try await b.sync()
        try await a.sync()
        try await b.sync()
        try expectEqual(["x": #"{"p":1}"#])
    }

    @Test("what was edited since it was sent wins against a deletion elsewhere, and is told")
    func editedSince() async throws {
        try a.save("x", #"{"p":1}"#)
        try await lose(.answer)
        try await b.sync()
        try b.delete("x")
        try await b.sync()
        try a.save("x", #"{"p":2}"#)
        try await a.sync()
        try await b.sync()
        try expectEqual(["x": #"{"p":2}"#])
        let conflict = try #require(try a.conflicts().first)
        let base = try #require(try a.store.syncState.text(of: .base, in: conflict))
        #expect(String(decoding: base, as: UTF8.self) == #"{"p":1}"#)
        #expect(try a.store.syncState.text(of: .theirs, in: conflict) == nil)
    }

    @Test("what was sent, and deleted here before the answer, is deleted there")
    func deletedHere() async throws {
        try a.save("x", #"{"p":1}"#)
        try await lose(.answer)
        try a.delete("x")
        try await b.sync()
        #expect(try b.names() == ["x"])
        try await a.sync()
        try await b.sync()
        try expectEqual([:])
    }

    @Test("a process that was killed before it could send sends the same", arguments: Loss.allCases)
    func killed(loss: Loss) async throws {
        try a.save("x", #"{"p":1}"#)
        try a.save("y", #"{"p":1}"#)
        try await lose(loss)
        #expect(try a.outbox() == ["create x", "create y"])
        _ = a.wire.takeSent()
        try await a.sync()
        #expect(a.wire.takeSent().filter { $0 == .recordsModify }.count == 1)
        try await b.sync()
        try expectEqual(["x": #"{"p":1}"#, "y": #"{"p":1}"#])
    }

    @Test("nothing waits for a request that the server refuses when it comes again")
    func refusedAgain() async throws {
        try a.save("x", #"{"p":1}"#)
        try await lose(.answer)
        a.wire.plan(
            .recordsModify,
            .refused(ServerError(.badRequest, "another request had this operationID")))
        try await a.sync()
        try await b.sync()
        try expectEqual(["x": #"{"p":1}"#])
    }

    @Test("as long as the server says nothing, it is asked again")
    func silence() async throws {
        try a.save("x", #"{"p":1}"#)
        try await lose(.answer)
        let zone = try #require(try a.store.syncState.zonesOfServer(in: .private).first)
        for fault in [
            CoreTransport.Fault.requestLost, .refused(ServerError(.throttled, "later")),
            .refused(ServerError(.authenticationRequired, "sign in")), .answerLost,
        ] {
            a.wire.plan(.recordsModify, fault)
            await #expect(throws: SyncProblem.self) { try await a.exchange.upload(zone) }
            #expect(try a.outbox() == ["create x"])
        }
        try await b.sync()
        try b.delete("x")
        try await b.sync()
        try await a.sync()
        try expectEqual([:])
    }

    @Test("a zone that is gone when the request comes again is made once more for what it held")
    func zoneGone() async throws {
        try a.save("x", #"{"p":1}"#)
        try await a.sync()
        try await b.sync()
        try a.save("y", #"{"p":2}"#)
        a.wire.plan(.recordsModify, .requestLost)
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        try b.removeZone()
        try await b.sync()
        try await a.sync()
        try await b.sync()
        try expectEqual(["y": #"{"p":2}"#])
    }

    @Test("a field that came after what was sent, and is removed elsewhere, does not come back")
    func removedElsewhere() async throws {
        try a.save("x", #"{"t":1}"#)
        try await lose(.processBefore)
        try b.save("x", #"{"p":1,"q":1}"#)
        try await b.sync()
        // The repeated request is answered with what is there, and nothing is sent after that.
        a.wire.plan(.zoneChanges, .refused(ServerError(.throttled, "not now", retryAfter: 1)))
        await #expect(throws: SyncProblem.self) { try await a.exchange.round() }
        #expect(try a.tree() == ["x": #"{"p":1,"q":1,"t":1}"#])
        try b.save("x", #"{"q":2}"#)
        try await b.sync()
        for replica in [a, b] { try await replica.sync() }
        try expectEqual(["x": #"{"q":2,"t":1}"#])
    }
}
