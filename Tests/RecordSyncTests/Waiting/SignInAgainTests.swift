import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A sign-in that ends in the middle of something (421 of the protocol).
@Suite("A sign-in that ends meanwhile") struct SignInAgainTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica
    private static let signIn = CoreTransport.Fault.refused(
        ServerError(.authenticationRequired, "sign in"))

    init() async throws {
        server = try await TestServer()
        a = try Replica(server) {
            $0.claims.records = 2
            $0.pageRecords = 2
        }
        b = try Replica(server) { $0.pageRecords = 2 }
    }

    private func expectSignIn(_ replica: Replica) async {
        let problem = await #expect(throws: SyncProblem.self) {
            try await replica.exchange.round()
        }
        #expect(problem?.reaction == .signIn)
    }

    @Test("what was sent before is not sent again, and the rest goes after the next sign-in")
    func betweenRequests() async throws {
        for number in 0..<6 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        a.wire.plan(.recordsModify, .meanwhile({}), Self.signIn)
        await expectSignIn(a)
        #expect(try a.outbox() == ["create x2", "create x3", "create x4", "create x5"])
        _ = a.wire.takeSent()
        try await a.sync()
        let bodies = a.wire.takeBodies(of: .recordsModify)
        #expect(bodies.count == 2 && bodies.allSatisfy { !$0.contains(#""x0""#) })
        try await b.sync()
        try b.expectSettled(a.tree())
        #expect(try b.names().count == 6 && a.conflicts() == [])
    }

    @Test("a request whose answer was lost before is not done twice")
    func afterLostAnswer() async throws {
        try a.save("x", #"{"p":1}"#)
        a.wire.plan(.recordsModify, .answerLost, Self.signIn, Self.signIn)
        await a.breakOff()
        for _ in 0..<2 { await expectSignIn(a) }
        #expect(try a.outbox() == ["create x"])
        try await b.sync()
        try b.delete("x")
        for replica in [b, a, b] { try await replica.sync() }
        for replica in [a, b] { try replica.expectSettled([:]) }
    }

    @Test(
        "a file whose bytes are on their way goes after the next sign-in",
        arguments: [SyncOperation.assetsUpload, .recordsModify])
    func files(operation: SyncOperation) async throws {
        try a.save("z", "{}")
        try await a.sync()
        try a.save("x", #"{"p":1}"#)
        try a.attach([1, 2, 3], to: "x")
        a.wire.plan(operation, Self.signIn)
        await expectSignIn(a)
        #expect(try a.outbox() == ["create x"])
        for replica in [a, b] { try await replica.sync() }
        #expect(try b.assets(of: "x") == ["x@photo.jpg": nil])
        #expect(try a.outbox() == [])
    }

    @Test("a download goes on behind the last page")
    func betweenPages() async throws {
        for number in 0..<6 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        try await a.sync()
        b.wire.plan(.zoneChanges, .meanwhile({}), Self.signIn)
        await expectSignIn(b)
        #expect(try b.names().count == 2)
        _ = b.wire.takeSent()
        try await b.sync()
        #expect(b.wire.takeBodies(of: .zoneChanges).allSatisfy { $0.contains("syncToken") })
        try b.expectSettled(a.tree())
    }

    @Test("the engine asks nothing until somebody has signed in, and says so")
    func engine() async throws {
        for number in 0..<4 { try a.save("x\(number)", #"{"p":\#(number)}"#) }
        a.wire.plan(.recordsModify, .meanwhile({}), Self.signIn)
        let clock = ManualClock()
        let engine = SyncEngine(a.exchange, clock: clock, jitter: { 0.5 })
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        #expect(engine.published.needsSignIn)
        _ = a.wire.takeSent()
        clock.advance(.seconds(100_000))
        await engine.told()
        #expect(a.wire.takeSent() == [])
        await engine.finishDueWork()
        #expect(!engine.published.needsSignIn)
        #expect(try a.outbox() == [])
        task.cancel()
        await task.value
        try await b.sync()
        try b.expectSettled(a.tree())
    }
}
