import Glibc
import RecordModel
import RecordTree
import Synchronization
import TestSupport
import Testing

@Suite("Reads that are given up")
struct InterruptedReadTests {
    private func events(_ fixture: TreeFixture) throws -> HandleNumber {
        let root = try #require(try fixture.lookup(".recordfs", in: .root))
        let file = try #require(try fixture.lookup("events", in: root.node))
        return try fixture.tree.open(file.node, flags: O_RDONLY, caller: TreeFixture.user).handle
    }

    @Test("a reader of the events that has gone gets no answer, and the others get theirs once")
    func eventReaders() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        let handles = try (0..<3).map { _ in try events(fixture) }
        let answers = Mutex<[Int]>([])
        var waits: [Waiting] = []
        for (index, handle) in handles.enumerated() {
            guard case .deferred(let start) = try fixture.tree.read(handle, offset: 0, count: 4096)
            else {
                Issue.record("the read should wait")
                return
            }
            waits.append(start { _ in answers.withLock { $0.append(index) } })
        }
        waits[1].giveUp()
        waits[1].giveUp()
        try fixture.put("{}", as: "a.json")
        #expect(answers.withLock { $0.sorted() } == [0, 2])
        for wait in waits { wait.giveUp() }
        #expect(
            try fixture.read(handles[1]).contains("\"created\""), "the stream has lost nothing")
        for handle in handles { fixture.tree.release(handle) }
    }

    @Test("a given-up read of an asset gets no answer, and is no failure that .error tells of")
    func asset() throws {
        let fetcher = HeldFetcher()
        let fixture = try TreeFixture(fetcher: fetcher)
        let (handle, start) = try fixture.readWithheldAsset()
        defer { fixture.tree.release(handle) }
        let answers = Mutex(0)
        let wait = start { _ in answers.withLock { $0 += 1 } }
        wait.giveUp()
        fetcher.answer(.failure(RecordError(.unavailable, "too late")))
        fixture.clock.advance(.seconds(60))
        _ = try fixture.tree.maintain()
        #expect(answers.withLock { $0 } == 0)
        #expect(try fixture.lookup(".error") == nil)
    }
}
