import RecordModel
import RecordServerCore
import RecordServerHTTP
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

    /// Runs an engine, and returns the events while the server answers a request, and those at the
    /// end.
    private func events(
        of replica: Replica, during operation: SyncOperation
    ) async throws -> (during: [String], after: [SyncEvent]) {
        let seen = Mutex<[String]>([])
        replica.wire.plan(
            operation,
            .meanwhile {
                let events = try replica.store.syncState.syncEvents(after: 0, limit: 100)
                seen.withLock { seen in
                    seen = events.map { "\($0.kind.rawValue)\($0.isRunning ? " runs" : "")" }
                }
            })
        _ = await run(replica)
        return (
            seen.withLock(\.self), try replica.store.syncState.syncEvents(after: 0, limit: 100)
        )
    }

    @Test("an exchange that runs is an event without an end")
    func running() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        let first = try await events(of: a, during: .databaseChanges)
        #expect(first.during == ["setup runs"])
        #expect(first.after.map(\.kind) == [.setup] && first.after.allSatisfy { $0.end != nil })
        for number in 0..<7 { try a.save("r\(number)", #"{"n":1}"#) }
        let upload = try await events(of: a, during: .recordsModify)
        #expect(upload.during.last == "export runs")
        let export = try #require(upload.after.last)
        #expect(upload.after.allSatisfy { $0.end != nil })
        #expect(export.records == 7 && export.begun.map { $0 < export.id } == true)
        let b = try Replica(server) { $0.pageRecords = 3 }
        // It is told of with the first page: this is what runs when the second one is asked for.
        b.wire.plan(.zoneChanges, .meanwhile {})
        let download = try await events(of: b, during: .zoneChanges)
        #expect(download.during == ["setup", "import runs"])
        #expect(download.after.last?.records == 7)
        #expect(download.after.allSatisfy { $0.end != nil })
    }

    @Test("a failure ends what runs, and what is tried again runs when something is taken")
    func failedRun() async throws {
        let server = try await TestServer()
        let a = try Replica(server)
        try a.save("w", #"{"n":1}"#)
        let engine = SyncEngine(a.exchange)
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        try a.save("x", #"{"n":1}"#)
        a.wire.loseRequests(over: 0)
        for _ in 0..<3 { await engine.finishDueWork() }
        func exports() throws -> [SyncEvent] {
            try a.store.syncState.syncEvents(after: 0, limit: 100).filter { $0.kind == .export }
        }
        let failed = try exports().filter { $0.error != nil }
        #expect(failed.count == 1, "the same again is no event, and does not run")
        #expect(failed.first?.begun != nil && failed.first?.end != nil)
        a.wire.loseRequests(over: .max)
        await engine.finishDueWork()
        task.cancel()
        await task.value
        let last = try #require(try exports().last)
        #expect(last.records == 1 && last.end != nil && last.begun != nil)
    }

    @Test("each record that the server refuses is a failed export with its reason")
    func refused() async throws {
        let server = try await TestServer { $0.service.recordBytes = 5_000 }
        let a = try Replica(server)
        let long = String(repeating: "k", count: 6_000)
        for name in ["x", "z"] { try a.save(name, "{\"a\":[\"\(long)\"]}") }
        try a.save("y", "{}")
        _ = await run(a)
        let events = try a.store.syncState.syncEvents(after: 0, limit: 100)
        let failed = events.filter { $0.error != nil }
        #expect(failed.compactMap(\.record?.name).sorted() == [RecordName("x"), RecordName("z")])
        #expect(failed.allSatisfy { $0.error?.contains("5000") == true && $0.kind == .export })
        #expect(events.last?.records == 1 && events.last?.error == nil)
        let zone = try #require(failed.first?.zone)
        try a.store.write(author: .commandLine) { (transaction) throws(RecordError) in
            for record in ["x", "z"] {
                try transaction.outbox.retryOutbox(of: RecordName(record), in: zone)
            }
        }
        _ = await run(a)
        let again = try a.store.syncState.syncEvents(after: events.last?.id ?? 0, limit: 100)
        #expect(again.filter { $0.error != nil }.count == 2)
        #expect(again.allSatisfy { $0.end != nil }, "nothing runs when all was refused")
    }

    @Test("of many refused records of one request a hundred are named")
    func manyRefused() async throws {
        let server = try await TestServer()
        let a = try Replica(server) { $0.claims.records = 400 }
        for number in 0..<210 { try a.save("r\(number)", "{}") }
        a.wire.plan(.recordsModify, .partly(ServerError(.accessDenied, "not you")))
        _ = await run(a)
        let failed = try a.store.syncState.syncEvents(after: 0, limit: 300)
            .filter { $0.error != nil }
        #expect(failed.compactMap(\.record).count == 100)
        #expect(failed.last?.error?.hasPrefix("5 more records") == true, "\(failed.count)")
    }
}
