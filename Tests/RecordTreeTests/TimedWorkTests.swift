import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import RecordTree
import Synchronization
import TestSupport
import Testing

/// Work of the mount that depends on time, and its last work.
@Suite("Work in its time, and the last work")
struct TimedWorkTests {
    // MARK: Downloaded bytes over their limit

    /// The exchange as it tells of itself.
    private struct Exchange: Sendable, CustomTestStringConvertible {
        var isIdle = true
        var needsSignIn = false
        var problems: [JSONValue] = []
        var isSignedIn = true
        var testDescription: String {
            "idle \(isIdle), needs sign-in \(needsSignIn), problems \(problems.count), \(isSignedIn)"
        }

        var status: JSONValue? {
            isSignedIn
                ? [
                    "idle": .bool(isIdle), "needsSignIn": .bool(needsSignIn),
                    "problems": .array(problems),
                ] : nil
        }
    }

    private static let exchanges: [(Exchange, mayEvict: Bool)] = [
        (Exchange(), true), (Exchange(isIdle: false), false), (Exchange(needsSignIn: true), false),
        (Exchange(problems: ["the server is away"]), false), (Exchange(isSignedIn: false), false),
    ]

    @Test("bytes over the limit go within a minute, while the server has told all that it knows")
    func eviction() throws {
        for (exchange, mayEvict) in Self.exchanges {
            let current = Mutex(exchange)
            let fixture = try TreeFixture(
                server: ServerBridge(
                    status: { current.withLock(\.status) }, run: { (_) throws(RecordError) in }),
                cacheBytes: 10)
            fixture.observe()
            try fixture.put("{}", as: "n.json")
            try fixture.put("twelve bytes", as: "n@photo.jpg")
            try fixture.maintain()
            #expect(try isHere(fixture), "unsent bytes stay")
            try fixture.send()
            fixture.clock.advance(.seconds(59))
            try fixture.maintain()
            #expect(try isHere(fixture), "a minute is not over")
            fixture.clock.advance(.seconds(1))
            try fixture.maintain()
            #expect(try isHere(fixture) != mayEvict, "\(exchange.testDescription)")
            // The name, the size and the text stay as they are.
            #expect(try fixture.lookup("n@photo.jpg")?.attributes.size == 12)
            #expect(try fixture.text("n.json")?.contains("n@photo.jpg") == true)
        }
    }

    private func isHere(_ fixture: TreeFixture) throws -> Bool {
        let node = try #require(try fixture.lookup("n@photo.jpg")).node
        return try fixture.tree.attribute("user.recordfs.downloaded".b, of: node) == "1".b
    }

    @Test("bytes under the limit stay, and without a limit all do", arguments: [nil, 12, 1 << 30])
    func kept(limit: Int64?) throws {
        let status = Exchange().status
        let fixture = try TreeFixture(
            server: ServerBridge(status: { status }, run: { (_) throws(RecordError) in }),
            cacheBytes: limit)
        try fixture.put("{}", as: "n.json")
        try fixture.put("twelve bytes", as: "n@photo.jpg")
        try fixture.send()
        fixture.clock.advance(.seconds(120))
        try fixture.maintain()
        #expect(try isHere(fixture))
    }

    // MARK: The grace time

    @Test("the next work is due when the first removed record is over its grace time")
    func due() throws {
        let fixture = try TreeFixture()
        #expect(try fixture.tree.maintain() == nil)
        for name in ["a", "b"] {
            try fixture.put("{}", as: "\(name).json")
            try fixture.remove("\(name).json")
            fixture.clock.advance(.seconds(1))
        }
        let now = fixture.clock.now
        #expect(try fixture.tree.maintain() == now + .seconds(1))
        fixture.clock.advance(.seconds(1))
        #expect(try fixture.tree.maintain() == now + .seconds(2))
        #expect(try fixture.store.past.trash(in: fixture.note.id).count == 1)
        fixture.clock.advance(.seconds(1))
        #expect(try fixture.tree.maintain() == nil)
        #expect(try fixture.store.past.trash(in: fixture.note.id).count == 2)
    }

    @Test("who outlasts the grace time returns when what was removed before is final")
    func outlasted() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "a.json")
        try fixture.remove("a.json")
        let (tree, clock) = (fixture.tree, fixture.clock)
        let done = Mutex<Result<Void, RecordError>?>(nil)
        let thread = Thread {
            let result = Result { () throws(RecordError) in try tree.outlastGrace() }
            done.withLock { $0 = result }
        }
        thread.start()
        let deadline = Deadline(seconds: 20)
        while done.withLock({ $0 == nil }), !deadline.isOver {
            clock.advance(.milliseconds(10))
            sched_yield()
        }
        #expect(throws: Never.self) { try done.withLock { $0 }?.get() }
        #expect(try fixture.store.past.trash(in: fixture.note.id).count == 1)
        // Nothing waits, and it returns at once.
        try tree.outlastGrace()
    }

    // MARK: The end

    @Test("the end of the mount makes removals final, and saves what is open as record or draft")
    func finish() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "gone.json")
        try fixture.remove("gone.json")
        let good = try fixture.openNew("good.json")
        try fixture.write(#"{"n":1}"#, to: good)
        let bad = try fixture.openNew("bad.json")
        try fixture.write("{", to: bad)
        let field = try fixture.openNew("good@photo.jpg")
        try fixture.write("bytes", to: field)
        try fixture.remount()
        #expect(
            try fixture.names() == [".error", "bad.json", "good.json", "good@photo.jpg"])
        #expect(try fixture.text("good.json")?.hasPrefix(#"{"n":1"#) == true)
        #expect(try fixture.text("bad.json") == "{")
        #expect(try fixture.text("good@photo.jpg") == "bytes")
        #expect(try fixture.store.past.trash(in: fixture.note.id).count == 1)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true) == [])
    }

    @Test("texts that no disk takes to the end are named in the log, and the end says how many")
    func lost() throws {
        let lines = Mutex<[String]>([])
        let fixture = try TreeFixture(report: { line in lines.withLock { $0.append(line) } })
        try fixture.put("{}", as: "kept.json")
        let handles = try ["a.json", "b.json"].map { try fixture.openNew($0) }
        for handle in handles { try fixture.write(#"{"n":1}"#, to: handle) }
        try fixture.failCommits()
        for handle in handles {
            #expect(try code { try fixture.tree.flush(handle) } != nil)
            fixture.tree.release(handle)
        }
        #expect(fixture.tree.unsavedCount == 2)
        #expect(
            fixture.tree.unsavedPaths() == ["private/Box/Note/a.json", "private/Box/Note/b.json"])
        let error = #expect(throws: RecordError.self) { try fixture.tree.finish() }
        #expect(error?.code == .noSpace && error?.message.contains("2 records") == true)
        let told = lines.withLock(\.self).filter { $0.contains("its text is lost") }
        #expect(
            told.compactMap { $0.split(separator: " ").first }.sorted()
                == ["private/Box/Note/a.json", "private/Box/Note/b.json"])
        // When the disk takes them after all, nothing is lost.
        try fixture.letCommitsPass()
        try fixture.tree.finish()
        #expect(fixture.tree.unsavedCount == 0)
        #expect(try fixture.text("a.json") == #"{"n":1}"#)
    }
}
