import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import ServerTestSupport
import Simulation
import Testing

/// What is done while the engine does not run, as before a mount or without an account, goes when it does.
@Suite("An engine that stops and starts") struct StopAndStartTests {
    private let server: TestServer
    private let a: Replica
    private let b: Replica

    init() async throws {
        server = try await TestServer()
        a = try Replica(server)
        b = try Replica(server)
    }

    /// The engine starts, does what there is to do, and stops.
    private func runOnce(_ replica: Replica) async {
        let engine = SyncEngine(replica.exchange)
        let task = Task { await engine.run() }
        for _ in 0..<2 { await engine.finishDueWork() }
        task.cancel()
        await task.value
    }

    @Test("saves, edits and deletions while it is stopped go when it starts, each once")
    func stopped() async throws {
        for name in ["x", "y", "z"] { try a.save(name, #"{"p":1}"#) }
        await runOnce(a)
        try a.save("x", #"{"p":2}"#)
        try a.delete("y")
        try a.save("new", #"{"p":3}"#)
        try a.save("never", #"{"p":4}"#)
        try a.delete("never")
        _ = a.wire.takeSent()
        await runOnce(a)
        #expect(a.wire.takeSent().count { $0 == .recordsModify } == 1)
        await runOnce(b)
        for replica in [a, b] {
            try replica.expectSettled([
                "x": #"{"p":2}"#, "z": #"{"p":1}"#, "new": #"{"p":3}"#,
            ])
        }
    }

    @Test("what was made before the first start and deleted before the second is nowhere")
    func madeAndDeleted() async throws {
        try a.save("x", #"{"p":1}"#)
        await runOnce(a)
        try a.delete("x")
        await runOnce(a)
        await runOnce(b)
        for replica in [a, b] { try replica.expectSettled([:]) }
    }

    @Test("what came from elsewhere is edited while it is stopped, and goes as an edit")
    func editedWhileStopped() async throws {
        try b.save("x", #"{"p":1,"q":1}"#)
        await runOnce(b)
        await runOnce(a)
        try a.save("x", #"{"p":2,"q":1}"#)
        #expect(try a.outbox() == ["update x"])
        try b.save("x", #"{"p":1,"q":2}"#)
        await runOnce(b)
        await runOnce(a)
        await runOnce(b)
        for replica in [a, b] { try replica.expectSettled(["x": #"{"p":2,"q":2}"#]) }
    }

    @Test("stopped in the middle of an upload it goes on with the rest")
    func stoppedInTheMiddle() async throws {
        let c = try Replica(server) { $0.claims.records = 2 }
        for number in 0..<6 { try c.save("x\(number)", #"{"p":1}"#) }
        // The second request is the last that is heard of.
        c.wire.plan(.recordsModify, .meanwhile({}), .answerLost)
        await c.breakOff()
        try c.restart()
        await runOnce(c)
        #expect(try c.outbox() == [])
        await runOnce(b)
        try b.expectSettled(c.tree())
        #expect(try b.names().count == 6)
    }
}
