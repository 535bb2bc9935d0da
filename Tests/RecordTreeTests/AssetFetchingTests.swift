import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import TestSupport
import Testing

/// Reads and changes of large fields whose bytes are on the server alone (MountContract, "Content
/// on the server").
@Suite("Bytes that only the server has")
struct AssetFetchingTests {
    private let fetcher = NotedFetcher()
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture(fetcher: fetcher)
        fixture.observe()
        for name in ["n", "m"] {
            try fixture.receiveRemoteAsset(name: name, field: "photo", size: 5)
        }
        _ = fixture.notices.take()
    }

    private func open(_ name: String, _ flags: Int32 = O_RDONLY) throws -> HandleNumber {
        let node = try #require(try fixture.lookup(name)).node
        return try fixture.tree.open(node, flags: flags, caller: TreeFixture.user).handle
    }

    /// Starts a read, and returns where its answers go.
    private func read(
        _ handle: HandleNumber, offset: Int64 = 0, count: Int = 5
    ) throws -> (Answers, Waiting) {
        guard
            case .deferred(let start) = try fixture.tree.read(handle, offset: offset, count: count)
        else { throw RecordError(.ioFailure, "the read should wait") }
        let answers = Answers()
        return (answers, start { answers.add($0) })
    }

    private var isTold: Bool {
        get throws { try fixture.lookup(".error") != nil }
    }

    private func tellsOfListing() -> Bool {
        fixture.notices.take().contains(.content(fixture.notes))
    }

    @Test("each read asks for its range, and gets its own answer once")
    func ranges() throws {
        let handles = [try open("n@photo.jpg"), try open("m@photo.jpg")]
        let (first, _) = try read(handles[0], offset: 1, count: 2)
        let (second, _) = try read(handles[1], offset: 4, count: 9)
        #expect(fetcher.asked == ["n@photo.jpg 1 2", "m@photo.jpg 4 9"])
        fetcher.answer(1, .success("2".b))
        #expect(first.words == [] && second.words == ["2"])
        fetcher.answer(0, .success("bc".b))
        fetcher.answer(0, .success("again".b))
        #expect(first.words == ["bc"] && second.words == ["2"])
        for handle in handles { fixture.tree.release(handle) }
        #expect(try !isTold)
        #expect(!tellsOfListing(), "nothing has changed for a listing")
    }

    @Test(
        "a failed read is told of, until the file can be read, and no other file's read ends that")
    func failure() throws {
        let (handle, other) = (try open("n@photo.jpg"), try open("m@photo.jpg"))
        defer { for handle in [handle, other] { fixture.tree.release(handle) } }
        let (failed, _) = try read(handle)
        fetcher.answer(0, .failure(RecordError(.unavailable, "the server is away")))
        #expect(failed.words == ["unavailable"])
        #expect(try fixture.text(".error")?.contains("n@photo could not be read") == true)
        #expect(try fixture.names().contains(".error"))
        #expect(tellsOfListing())
        let (good, _) = try read(other)
        fetcher.answer(1, .success("bytes".b))
        #expect(good.words == ["bytes"])
        #expect(try isTold)
        let (later, _) = try read(handle)
        fetcher.answer(2, .success("bytes".b))
        #expect(later.words == ["bytes"])
        #expect(try !isTold)
        #expect(try !fixture.names().contains(".error"))
        #expect(tellsOfListing(), "the kernel keeps the listing with .error otherwise")
    }

    @Test("a read waits for 30 s, and what comes after that is not its answer")
    func deadline() throws {
        let handle = try open("n@photo.jpg")
        defer { fixture.tree.release(handle) }
        let (answers, _) = try read(handle)
        fixture.clock.advance(.milliseconds(29_999))
        try fixture.maintain()
        #expect(answers.words == [])
        fixture.clock.advance(.milliseconds(1))
        try fixture.maintain()
        #expect(answers.words == ["timedOut"])
        #expect(try fixture.text(".error")?.contains("30.0 seconds") == true)
        fetcher.answer(0, .success("late!".b))
        #expect(answers.words == ["timedOut"])
        #expect(try isTold, "the late answer was not this read's")
    }

    @Test(
        "the end of the mount ends the reads that wait, and leaves no reason in the directory's way"
    )
    func interrupted() throws {
        let handle = try open("n@photo.jpg")
        let (answers, _) = try read(handle)
        fixture.tree.answerWaiting()
        #expect(answers.words == ["interrupted"])
        fetcher.answer(0, .success("late!".b))
        #expect(answers.words == ["interrupted"])
        fixture.tree.release(handle)
    }

    @Test("a file that goes while a read waits to begin is gone for it")
    func gone() throws {
        let handle = try open("n@photo.jpg")
        defer { fixture.tree.release(handle) }
        guard case .deferred(let start) = try fixture.tree.read(handle, offset: 0, count: 5) else {
            Issue.record("the read should wait")
            return
        }
        try fixture.receive(.delete, name: "n")
        let answers = Answers()
        _ = start { answers.add($0) }
        #expect(answers.words == ["stale"])
        #expect(fetcher.asked == [])
    }

    // MARK: Changes

    @Test("a change in the middle waits for all bytes, and one that needs none of them does not")
    func changes() throws {
        let handle = try open("n@photo.jpg", O_RDWR)
        defer { fixture.tree.release(handle) }
        #expect(try code { try fixture.write("X", to: handle, at: 2) } == .unavailable)
        let node = try #require(try fixture.lookup("n@photo.jpg")).node
        let wait = try #require(fixture.tree.missingBytes(of: node, handle: handle))
        let answers = Answers()
        _ = wait { answers.add($0) }
        #expect(fetcher.asked == ["bring n@photo.jpg"])
        fetcher.answer(0, .success([]))
        #expect(answers.words == [""])
        // `>` replaces the file without its bytes.
        let anew = try open("m@photo.jpg", O_WRONLY | O_TRUNC)
        try fixture.write("new", to: anew)
        try fixture.tree.flush(anew)
        fixture.tree.release(anew)
        #expect(try fixture.text("m@photo.jpg") == "new")
        #expect(fetcher.asked == ["bring n@photo.jpg"])
    }

    @Test("a wait for all bytes has no deadline, can be given up, and says why it fails")
    func bringing() throws {
        let node = try #require(try fixture.lookup("n@photo.jpg")).node
        func wait() throws -> (Answers, Waiting) {
            let call = try #require(fixture.tree.missingBytes(of: node, handle: nil))
            let answers = Answers()
            return (answers, call { answers.add($0) })
        }
        let (patient, _) = try wait()
        fixture.clock.advance(.seconds(3600))
        try fixture.maintain()
        #expect(patient.words == [])
        fetcher.answer(0, .failure(RecordError(.unavailable, "away")))
        #expect(patient.words == ["unavailable"])
        #expect(try isTold)
        let (gone, waiting) = try wait()
        #expect(fetcher.cancelled == [])
        waiting.giveUp()
        #expect(fetcher.cancelled == [1])
        fetcher.answer(1, .success([]))
        #expect(gone.words == [])
    }

    @Test("nothing but a large field has bytes to wait for")
    func otherNodes() throws {
        try fixture.put("s", as: "s")
        for path in ["private/Box/Note/n.json", "private/Box/Note/s", "private/Box", "README.md"] {
            let node = try #require(try fixture.find(path)).node
            #expect(fixture.tree.missingBytes(of: node, handle: nil) == nil, "\(path)")
        }
        #expect(fixture.tree.missingBytes(of: NodeNumber(rawValue: 99), handle: nil) == nil)
        // By a handle, also where the name leads elsewhere by now.
        let handle = try open("n@photo.jpg")
        defer { fixture.tree.release(handle) }
        #expect(fixture.tree.missingBytes(of: fixture.notes, handle: handle) != nil)
    }

    @Test("a field that is not here is not moved away, and stays as it was", arguments: [0, 2])
    func moves(flags: UInt32) throws {
        try fixture.put("local", as: "s")
        let before = try fixture.text("n.json")
        #expect(
            try code { try fixture.rename("n@photo.jpg", to: "s", flags: flags) } == .unavailable)
        #expect(try fixture.text("s") == "local")
        #expect(try fixture.text("n.json") == before)
        #expect(
            try fixture.names().filter { $0 != ".error" } == [
                "m.json", "m@photo.jpg", "n.json", "n@photo.jpg", "s",
            ])
    }
}

/// The answers of one read, in short.
private final class Answers: Sendable {
    private let list = Mutex<[String]>([])
    var words: [String] { list.withLock(\.self) }

    func add(_ result: Result<ReadResult, RecordError>) {
        let word =
            switch result {
            case .success(.bytes(let bytes)): String(decoding: bytes, as: UTF8.self)
            case .success(.file): "a file"
            case .success(.deferred): "later"
            case .failure(let error): error.code.rawValue
            }
        list.withLock { $0.append(word) }
    }
}

/// A server that notes what it is asked, and answers each question when the test says so.
private final class NotedFetcher: AssetFetcher {
    private struct State {
        var asked: [String] = []
        var answers: [@Sendable (Result<[UInt8], RecordError>) -> Void] = []
        var cancelled: [Int] = []
    }
    private let state = Mutex(State())
    var asked: [String] { state.withLock(\.asked) }
    var cancelled: [Int] { state.withLock(\.cancelled) }

    private func add(
        _ words: String, _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) -> Int {
        state.withLock { state in
            state.asked.append(words)
            state.answers.append(answer)
            return state.answers.count - 1
        }
    }

    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        _ = add("\(String(decoding: asset.fileName, as: UTF8.self)) \(offset) \(count)", answer)
    }

    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        let number = add("bring \(String(decoding: asset.fileName, as: UTF8.self))") {
            answer($0.map { _ in })
        }
        return { [self] in state.withLock { $0.cancelled.append(number) } }
    }

    /// Answers a question by its number.
    func answer(_ number: Int, _ result: Result<[UInt8], RecordError>) {
        state.withLock { $0.answers[number] }(result)
    }
}
