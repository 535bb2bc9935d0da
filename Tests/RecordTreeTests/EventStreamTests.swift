import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

@testable import RecordTree

/// `.recordfs/events` (ControlDirectory, "Events"): a line for each change, and each byte once for
/// each reader.
@Suite("The stream of events")
struct EventStreamTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    private func open() throws -> HandleNumber {
        let node = try fixture.control("events")
        return try fixture.tree.open(node, flags: O_RDONLY, caller: TreeFixture.user).handle
    }

    /// Reads the lines that are there now, without waiting for more.
    private func read(_ handle: HandleNumber, atOnce: Int = 1 << 20) throws -> String {
        var bytes: [UInt8] = []
        while case .bytes(let next) = try fixture.tree.read(handle, offset: 0, count: atOnce) {
            #expect(next.count <= atOnce && !next.isEmpty)
            bytes += next
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The lines that the changes of `body` add, without their times and versions.
    private func lines(_ body: () throws -> Void) throws -> [String] {
        let handle = try open()
        defer { fixture.tree.release(handle) }
        try body()
        return try read(handle).split(separator: "\n").map { line in
            let members = try JSONParser.parse(Array(line.utf8)).members
            return members.filter { $0.key != "time" && $0.key != "token" }
                .map { "\($0.key.string)=\($0.value.words)" }.joined(separator: " ")
        }
    }

    // MARK: Lines

    @Test("a save, a new layout, a refused text and a file of a record have their lines")
    func saves() throws {
        #expect(
            try lines { try fixture.put(#"{"n":1}"#, as: "a.json") }
                == ["event=created author=mount name=a"])
        #expect(
            try lines { try fixture.put(#"{"n":2}"#, as: "a.json") }
                == ["event=updated author=mount name=a"])
        #expect(
            try lines { try fixture.put(#"{ "n": 2 }"#, as: "a.json") }
                == ["event=text author=mount name=a"])
        #expect(
            try lines { #expect(throws: RecordError.self) { try fixture.put("{", as: "a.json") } }
                == ["event=draft author=mount name=a"])
        #expect(
            try lines { try fixture.put("bytes", as: "a@photo.jpg") }.last?
                .contains("author=mount name=a") == true)
        #expect(try lines { try fixture.put("scratch", as: "s") } == [])
        #expect(try lines { _ = try fixture.text("a.json") } == [])
    }

    @Test("a removal waits, is final after the grace, and what comes back is told")
    func removals() throws {
        try fixture.put(#"{"n":1}"#, as: "a.json")
        #expect(try lines { try fixture.remove("a.json") } == ["event=waiting author=mount name=a"])
        let final = try lines {
            fixture.clock.advance(.seconds(4))
            try fixture.maintain()
        }
        #expect(final == ["event=deleted author=mount name=a"])
        let back = try lines {
            try fixture.tree.rename(
                parent: fixture.control("trash/private/Box/Note"), name: "a.json".b,
                newParent: fixture.notes, newName: "a.json".b, flags: 0)
        }
        #expect(back == ["event=restored author=mount name=a"])
    }

    @Test("a change from elsewhere says so, and places have lines without a name")
    func elsewhere() throws {
        try fixture.put(#"{"n":1}"#, as: "a.json")
        try fixture.send()
        let fields = [RecordField(name: FieldName("n"), value: .int64(9))]
        #expect(
            try lines { try fixture.receive(.upsert(fields, parent: nil), name: "a") }
                == ["event=updated author=sync name=a"])
        #expect(
            try lines { try fixture.receive(.delete, name: "a") }
                == ["event=deleted author=sync name=a"])
        let box = try #require(try fixture.find("private/Box")).node
        #expect(
            try lines { _ = try fixture.tree.makeDirectory(parent: box, name: "T".b, mode: 0o755) }
                == ["event=typeMade author=mount"])
        #expect(
            try lines { try fixture.tree.removeDirectory(parent: box, name: "T".b) }
                == ["event=typeRemoved author=mount"])
    }

    @Test("an exchange with the server has its time, its number of records and its failure")
    func exchanges() throws {
        let start = fixture.clock.now
        let rows: [(SyncEvent, String)] = [
            (
                SyncEvent(.setup, .private, nil, start: start, end: start),
                "event=setup id=1 database=private start=S end=S succeeded=true records=0"
            ),
            (
                SyncEvent(.import, .shared, nil, start: start, end: start, records: 7),
                "event=import id=2 database=shared start=S end=S succeeded=true records=7"
            ),
            (
                SyncEvent(
                    .export, .public, nil, start: start, end: start, records: 1, error: "no"),
                "event=export id=3 database=public start=S end=S succeeded=false records=1 error=no"
            ),
        ]
        for (event, expected) in rows {
            let lines = try lines {
                try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                    try transaction.feed.note(event)
                }
            }
            #expect(lines.map { $0.replacing(start.iso8601, with: "S") } == [expected])
        }
    }

    @Test("news of a share say who, where and what")
    func shares() throws {
        let zone = try fixture.box.id
        func lines(_ news: [ShareNews], in zone: ZoneID) throws -> [String] {
            try self.lines {
                try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                    transaction.sharing.note(news, of: zone)
                }
            }
        }
        let place = "database=private zone=Box"
        for kind in [ShareNews.Kind.accepted, .left, .declined, .requested] {
            #expect(
                try lines([ShareNews(kind, who: "bob@example.org")], in: zone)
                    == ["event=share what=\(kind.rawValue) \(place) who=bob@example.org"])
        }
        #expect(try lines([], in: zone) == [])
        #expect(
            try lines([ShareNews(.ended), ShareNews(unsent: 3)], in: zone)
                == [
                    "event=share what=ended \(place)", "event=share what=unsent \(place) records=3",
                ])
        let unshared = try self.lines {
            try fixture.store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.sharing.noteUnshared(
                    [RecordName("c"), RecordName("d")], of: RecordName("r"), in: zone)
            }
        }
        #expect(
            unshared == ["event=share what=unshared \(place) records=2 name=r unshared=[c,d]"])
        let invitation = Invitation(
            id: "1", json: ["title": "Trip", "url": "u", "owner": ["address": "o@x"], "more": "m"])
        #expect(
            try lines([ShareNews(invited: invitation)], in: ZoneID(0))
                == ["event=share what=invited who=o@x title=Trip url=u"])
        let others = try fixture.store.write(author: .sync) { transaction throws(RecordError) in
            try transaction.makeZone(.shared, OwnerName("olga"), ZoneName("Team")).id
        }
        #expect(
            try lines([ShareNews(.ended)], in: others)
                == ["event=share what=ended database=shared zone=Team owner=olga"])
    }

    // MARK: Readers

    @Test("a reader of a few bytes at a time gets every line whole", arguments: [1, 7, 60, 4096])
    func smallReads(atOnce: Int) throws {
        let (small, large) = (try open(), try open())
        for number in 0..<20 { try fixture.put(#"{"n":\#(number)}"#, as: "a.json") }
        let expected = try read(large)
        #expect(expected.split(separator: "\n").count == 20)
        #expect(try read(small, atOnce: atOnce) == expected)
        for handle in [small, large] { fixture.tree.release(handle) }
    }

    @Test("the stream of a reader begins when it is opened")
    func beginning() throws {
        let first = try open()
        try fixture.put(#"{"n":1}"#, as: "a.json")
        let second = try open()
        try fixture.put(#"{"n":1}"#, as: "b.json")
        #expect(try read(first).split(separator: "\n").count == 2)
        #expect(try read(second).split(separator: "\n").count == 1)
        fixture.tree.release(first)
        fixture.tree.release(second)
        try fixture.put(#"{"n":1}"#, as: "c.json")
        let third = try open()
        #expect(try read(third) == "")
        fixture.tree.release(third)
    }

    /// Two programs share a descriptor after a fork.
    @Test("of two reads that wait at one descriptor one gets a line, and the other waits on")
    func sharedDescriptor() throws {
        let handle = try open()
        let answers = Mutex<[String]>([])
        for name in ["one", "two"] {
            guard case .deferred(let start) = try fixture.tree.read(handle, offset: 0, count: 4096)
            else {
                Issue.record("the read should wait")
                return
            }
            _ = start { result in
                guard case .success(.bytes(let bytes)) = result else { return }
                let line = String(decoding: bytes, as: UTF8.self)
                answers.withLock { $0.append("\(name) \(line.contains("\"created\""))") }
            }
        }
        try fixture.put("{}", as: "a.json")
        #expect(answers.withLock { $0 } == ["one true"], "an empty answer is the end of the stream")
        try fixture.put("{}", as: "b.json")
        #expect(answers.withLock { $0 } == ["one true", "two true"])
        fixture.tree.release(handle)
    }

    @Test("the end of the mount, and a close, end the reads that wait, and later ones at once")
    func ends() throws {
        let handles = [try open(), try open()]
        let answers = Mutex<[Int]>([])
        func wait(_ index: Int) throws {
            guard
                case .deferred(let start) = try fixture.tree.read(
                    handles[index], offset: 0, count: 4096)
            else { throw RecordError(.ioFailure, "the read should wait") }
            _ = start { result in
                guard case .success(.bytes([])) = result else { return }
                answers.withLock { $0.append(index) }
            }
        }
        try wait(0)
        try wait(1)
        fixture.tree.release(handles[0])
        #expect(answers.withLock { $0 } == [0])
        fixture.tree.answerWaiting()
        #expect(answers.withLock { $0 } == [0, 1])
        try wait(1)
        #expect(answers.withLock { $0 } == [0, 1, 1])
        fixture.tree.release(handles[1])
    }

    @Test("a slow reader loses the oldest lines and never a part of one")
    func slow() throws {
        let log = EventLog(clock: fixture.clock)
        let (slow, quick) = (log.open(), log.open())
        var taken = 0
        func lines(_ cursor: EventCursor) -> [Int] {
            guard case .bytes(let bytes) = log.read(cursor, count: 1 << 24) else { return [] }
            return bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
                (try? JSONParser.parse(Array(line)))?["n"]?.int64.map { Int($0) }
            }
        }
        let total = 10_000
        for number in 0..<total {
            log.append([JSONMember(key: "n", value: .integer(Int64(number)))])
            if number % 1000 == 999 { taken += lines(quick).count }
        }
        #expect(taken == total)
        let left = lines(slow)
        #expect(left.count >= 4096 && left.count < total)
        #expect(left == Array((total - left.count)..<total))
    }

    @Test("without a reader nothing is kept, neither of changes nor of failures")
    func noReaders() throws {
        let log = EventLog(clock: fixture.clock)
        log.note(failure: RecordError(.ioFailure, "nobody reads"), of: "a.json")
        #expect(log.kept == 0)
        let cursor = log.open()
        log.note(failure: RecordError(.ioFailure, "somebody reads"), of: "a.json")
        #expect(log.kept == 1)
        guard case .bytes(let line) = log.read(cursor, count: 4096) else {
            Issue.record("there is a line")
            return
        }
        let json = try JSONParser.parse(line)
        #expect(json["event"]?.string == "failure" && json["subject"]?.string == "a.json")
        #expect(json["error"]?.string?.string.contains("somebody reads") == true)
        log.close(cursor)
        #expect(log.kept == 0)
        let next = log.open()
        log.append([JSONMember(key: "n", value: .integer(1))])
        guard case .bytes = log.read(next, count: 4096) else {
            Issue.record("the next reader gets what comes after it")
            return
        }
    }
}

extension JSONValue {
    fileprivate var members: [JSONMember] {
        if case .object(let members) = self { members } else { [] }
    }

    /// The value in the short form of a line.
    fileprivate var words: String {
        switch self {
        case .string(let text): text.string
        case .array(let values): "[\(values.map(\.words).joined(separator: ","))]"
        default: String(decoding: serialized(), as: UTF8.self)
        }
    }
}
