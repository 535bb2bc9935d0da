import Logging
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

/// The engine as it runs in the daemon, by itself and in real time.
@Suite struct SyncEngineTests {
    /// An engine that runs, and what its store tells.
    private final class Running: Sendable {
        let replica: Replica
        let engine: SyncEngine
        private let task: Task<Void, Never>
        private let changes: AsyncStream<Void>

        init(_ replica: Replica, _ settings: SyncSchedule.Settings = SyncSchedule.Settings()) {
            self.replica = replica
            let engine = SyncEngine(replica.exchange, schedule: settings)
            self.engine = engine
            let (changes, teller) = AsyncStream<Void>.makeStream(
                bufferingPolicy: .bufferingNewest(1))
            self.changes = changes
            replica.store.observe { list in
                engine.noteChanges(list)
                teller.yield()
            }
            task = Task { await engine.run() }
        }

        deinit { task.cancel() }

        /// Waits until the store is as it should be.
        func wait(until isSo: () throws -> Bool) async throws {
            let deadline = Deadline(seconds: 10)
            for await _ in changes {
                if try isSo() { return }
                if deadline.isOver { break }
            }
            Issue.record("it did not come")
        }

        func stop() async {
            task.cancel()
            await task.value
        }
    }

    private static var fast: SyncSchedule.Settings {
        var settings = SyncSchedule.Settings()
        settings.uploadDelay = .milliseconds(1)
        settings.pollInterval = .milliseconds(20)
        return settings
    }

    @Test("what is saved on one machine appears on the other, without anybody asking")
    func travels() async throws {
        let server = try await TestServer()
        let a = Running(try Replica(server), Self.fast)
        let b = Running(try Replica(server), Self.fast)
        try a.replica.save("x", #"{"n":1}"#)
        try await b.wait { try b.replica.text("x") == #"{"n":1}"# }
        try b.replica.save("x", #"{"n":2}"#)
        try await a.wait { try a.replica.text("x") == #"{"n":2}"# }
        try a.replica.delete("x")
        try await b.wait { try b.replica.names() == [] }
        await a.stop()
        await b.stop()
        try a.replica.expectSound()
        try b.replica.expectSound()
    }

    @Test("news of a zone that is being fetched are not fetched a second time")
    func askedAgain() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try a.save("x", #"{"n":1}"#)
        try await a.sync()
        let running = Mutex<SyncEngine?>(nil)
        let (asked, asker) = AsyncStream<Void>.makeStream()
        var wire = HookedTransport(wire: b.wire)
        wire.beforeRequest = { operation in
            switch operation {
            case .databaseChanges: asker.yield()
            case .zoneChanges:
                // Until the feed is asked again, of whose news the token is not kept yet.
                await running.withLock(\.self)?.told()
                var requests = asked.makeAsyncIterator()
                for _ in 0..<2 { _ = await requests.next(isolation: nil) }
                asker.finish()
            default: break
            }
        }
        let engine = SyncEngine(b.exchange(over: wire))
        running.withLock { $0 = engine }
        let task = Task { await engine.run() }
        await engine.finishDueWork()
        task.cancel()
        await task.value
        try b.expectSettled(["x": #"{"n":1}"#])
        let sent = b.wire.takeSent()
        #expect(sent.count { $0 == .zoneChanges } == 1, "\(sent)")
        let token = try b.store.syncState.feedToken(of: .database(.private))
        #expect(token != nil)
    }

    @Test("what was saved before the engine ran is sent")
    func before() async throws {
        let server = try await TestServer()
        let replica = try Replica(server)
        try replica.save("x", #"{"n":1}"#)
        let a = Running(replica, Self.fast)
        let b = Running(try Replica(server), Self.fast)
        try await b.wait { try b.replica.text("x") == #"{"n":1}"# }
        await a.stop()
        await b.stop()
    }

    @Test("problems are told while they last, and everything arrives after them")
    func problems() async throws {
        let server = try await TestServer()
        let replica = try Replica(server)
        for _ in 0..<4 { replica.wire.plan(.requestLost) }
        try replica.save("x", #"{"n":1}"#)
        var settings = Self.fast
        settings.backoff = Backoff(first: .milliseconds(5), longest: .milliseconds(20))
        let a = Running(replica, settings)
        let b = Running(try Replica(server), settings)
        try await b.wait { try b.replica.text("x") == #"{"n":1}"# }
        await a.stop()
        await b.stop()
        #expect(a.engine.published.problems.isEmpty)
    }

    @Test("what was parked is sent again when somebody asks for it")
    func retry() async throws {
        let server = try await TestServer()
        let replica = try Replica(server)
        try replica.save("x", #"{"n":1}"#)
        replica.wire.plan(.recordsModify, .refused(ServerError(.badRequest, "no")))
        try await replica.exchange.round()
        #expect(try replica.outbox() == ["create x? BAD_REQUEST"])
        let a = Running(replica, Self.fast)
        try replica.store.syncState.retryParked()
        await a.engine.finishDueWork()
        #expect(try replica.outbox() == [])
        await a.stop()
    }

    @Test("who waits for an engine that has ended does not wait")
    func ended() async throws {
        let server = try await TestServer()
        let a = Running(try Replica(server), Self.fast)
        await a.stop()
        await a.engine.finishDueWork()
    }
}
