import RecordModel
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// What a courier brings is a hint: it may come twice, late, in another order, or about nothing.
@Suite("Frames of a courier") struct CourierFrameTests {
    /// A courier whose frames a test sends.
    private final class Courier: Sendable {
        private let frames: AsyncStream<[UInt8]>
        private let sender: AsyncStream<[UInt8]>.Continuation

        init() { (frames, sender) = AsyncStream.makeStream() }

        func send(_ frame: String) { sender.yield(Array(frame.utf8)) }

        /// Waits until there is one, or its task is cancelled.
        func next() async throws(SyncProblem) -> [UInt8] {
            var iterator = frames.makeAsyncIterator()
            guard let frame = await iterator.next(isolation: nil) else {
                throw .unreachable("the courier is over")
            }
            return frame
        }
    }

    private static func frame(_ number: Int) -> String {
        #"{"aps":{"content-available":1},"ck":{"nid":"n\#(number)","ce":2}}"#
    }

    @Test(
        "frames that come twice, late or in another order change nothing but when it is looked",
        .timeLimit(.minutes(3)))
    func doubledAndReordered() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        let courier = Courier()
        var wire = HookedTransport(wire: b.wire)
        wire.frame = { () throws(SyncProblem) in try await courier.next() }
        let engine = SyncEngine(b.exchange(over: wire))
        let (changes, teller) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        b.store.observe { _ in teller.yield() }
        let task = Task {
            await withDiscardingTaskGroup { group in
                group.addTask { await engine.run() }
                group.addTask { await PushListener.run(for: [engine]) }
            }
        }
        let deadline = Deadline(seconds: 10)
        var seen = changes.makeAsyncIterator()
        for number in 1...3 {
            try a.save("x", #"{"p":\#(number)}"#)
            try a.save("y\(number)", "{}")
            try await a.sync()
            // The newest first, each of them five times, with those of changes before.
            for _ in 0..<5 {
                for old in (1...number).reversed() { courier.send(Self.frame(old)) }
            }
            while try b.text("x") != #"{"p":\#(number)}"# || b.entry("y\(number)") == nil,
                !deadline.isOver
            {
                if await seen.next(isolation: nil) == nil { break }
            }
        }
        // Some about nothing that is new.
        for number in [2, 1, 3, 3, 1] { courier.send(Self.frame(number)) }
        courier.send("no JSON")
        await engine.finishDueWork()
        task.cancel()
        await task.value
        try b.expectSettled(a.tree())
        let box = try #require(try b.store.zone(.private, .me, ZoneName("Box")))
        #expect(try b.store.past.history(of: RecordName("x"), in: box.id).count <= 3)
        // Looking costs a request; nothing is fetched twice for it.
        let sent = b.wire.takeSent()
        #expect(sent.count { $0 == .zoneChanges } <= 6, "\(sent)")
        #expect(!sent.contains(.recordsModify))
    }
}
