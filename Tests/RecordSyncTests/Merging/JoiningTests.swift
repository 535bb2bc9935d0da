import RecordModel
import RecordStore
import RecordSync
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A machine that signs in with records whose names the account has already.
@Suite("Signing in with local data") struct JoiningTests {
    private static let faults: [CoreTransport.Fault] = [
        .requestLost, .answerLost, .duplicated, .cutShort, .crash(isAnswered: false),
        .crash(isAnswered: true),
    ]

    /// A round that may be broken.
    private func tryOut(_ replica: Replica) async {
        do throws(SyncProblem) {
            try await replica.exchange.round()
        } catch {
            // So it was.
        }
    }

    @Test(
        "a value that loses is in a conflict of its machine, whichever request is broken",
        arguments: 0..<6, [false, true])
    func join(_ broken: Int, _ isEdited: Bool) async throws {
        for fault in Self.faults {
            let server = try await TestServer()
            let (old, new) = (try Replica(server), try Replica(server))
            try old.save("x", #"{"p":"first","q":"same"}"#)
            try await old.sync()
            try new.save("x", #"{"p":"local","q":"same"}"#)
            if isEdited {
                server.clock.advance(.seconds(5))
                try old.save("x", #"{"p":"edited","q":"same"}"#)
                try await old.sync()
            }
            for _ in 0..<broken { new.wire.plan(nil) }
            new.wire.plan(fault)
            await tryOut(new)
            _ = try new.restartAfterCrash()
            new.wire.forgetPlan()
            for replica in [new, old, new, old] { try await replica.sync() }
            let text = try #require(try new.text("x"))
            #expect(try old.text("x") == text)
            let (loser, value) =
                text.contains("local")
                ? (old, isEdited ? "edited" : "first") : (new, "local")
            let kept = try loser.conflicts().compactMap {
                try loser.store.syncState.text(of: .mine, in: $0).map {
                    String(decoding: $0, as: UTF8.self)
                }
            }
            #expect(kept.contains { $0.contains(value) }, "\(fault): \(text), \(kept)")
        }
    }
}
