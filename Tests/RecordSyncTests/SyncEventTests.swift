import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import Synchronization
import TestSupport
import Testing

/// What the engine tells of itself: events, and how far a download is.
@Suite struct SyncEventTests {
    private func events(_ replica: Replica) throws -> [String] {
        try replica.store.syncState.syncEvents(after: 0, limit: 100).map { event in
            let error = event.error.map { " \($0.prefix { $0 != ":" })" } ?? ""
            return "\(event.kind.rawValue) \(event.records)\(error)"
        }
    }

    /// Runs an engine until all is done that can be.
    private func run(_ replica: Replica) async -> SyncStatus {
        let engine = SyncEngine(replica.exchange)
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        task.cancel()
        await task.value
        return engine.published
    }

    @Test("an answer of somebody else is told as one, with what it is")
    func foreignAnswer() {
        let words = "\(SyncProblem.unreadable("no JSON"))"
        #expect(words.hasPrefix("The server's answer is not of the protocol"))
        #expect(words.contains("a proxy or a sign-in page") && words.hasSuffix(": no JSON"))
    }

    @Test("each upload and download that changed something is an event, and the first contact")
    func told() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try a.save("x", #"{"n":1}"#)
        try a.save("y", #"{"n":1}"#)
        _ = await run(a)
        #expect(try events(a) == ["setup 0", "export 2"])
        _ = await run(b)
        #expect(try events(b) == ["setup 0", "import 2"])
        let status = await run(b)
        #expect(try events(b) == ["setup 0", "import 2", "setup 0"], "nothing was new")
        #expect(status.lastFetch != nil)
        #expect(status.nextTry == nil)
    }

    @Test("a failure is an event once, however often it is tried again, and says when that is")
    func failures() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        let engine = SyncEngine(a.exchange)
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        try a.save("x", #"{"n":1}"#)
        for _ in 0..<3 {
            a.wire.plan(.recordsModify, .requestLost)
            await engine.finishDueWork()
        }
        #expect(engine.published.nextTry != nil)
        let told = try events(a)
        #expect(
            told == [
                "setup 0", "export 0 The server cannot be reached",
                "export 0 An upload does not get through, although the server answers",
            ], "\(told)")
        await engine.finishDueWork()
        task.cancel()
        await task.value
        #expect(try events(a).last == "export 1")
        #expect(engine.published.nextTry == nil)
    }

    @Test("events outlive the process, and observers hear of each")
    func kept() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        let heard = Mutex<[String]>([])
        a.store.observe { changes in
            for case let event? in changes.map(\.exchange) {
                heard.withLock { $0.append(event.kind.rawValue) }
            }
        }
        try a.save("x", #"{"n":1}"#)
        _ = await run(a)
        #expect(heard.withLock(\.self) == ["setup", "export"])
        try a.restart()
        #expect(try events(a) == ["setup 0", "export 1"])
    }

    @Test("a failure of another kind than the one before is another event")
    func otherFailure() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        let engine = SyncEngine(a.exchange)
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        try a.save("x", #"{"n":1}"#)
        let refusal = CoreTransport.Fault.refused(ServerError(.tryAgainLater, "busy"))
        for fault: CoreTransport.Fault in [.requestLost, refusal] {
            a.wire.plan(.recordsModify, fault)
            await engine.finishDueWork()
        }
        await engine.finishDueWork()
        task.cancel()
        await task.value
        let told = try events(a)
        #expect(
            told == [
                "setup 0", "export 0 The server cannot be reached", "export 0 TRY_AGAIN_LATER",
                "export 1",
            ], "\(told)")
    }

    @Test("a first download says how many records there are and how many have come")
    func progress() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        for number in 0..<7 { try a.save("r\(number)", #"{"n":1}"#) }
        try await a.sync()
        let b = try Replica(server) { $0.pageRecords = 3 }
        let engine = SyncEngine(b.exchange)
        let seen = Mutex<[String]>([])
        for _ in 0..<3 {
            b.wire.plan(
                .zoneChanges,
                .meanwhile {
                    for zone in engine.published.downloads {
                        seen.withLock { $0.append("\(zone.received) of \(zone.total)") }
                    }
                })
        }
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        task.cancel()
        await task.value
        #expect(seen.withLock(\.self) == ["3 of 7", "6 of 7"])
        #expect(engine.published.downloads.isEmpty)
    }
}
