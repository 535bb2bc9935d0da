import Glibc
import RecordModel
import TestSupport
import Testing

@testable import RecordTree

/// What a handle could not take is not saved, although its program goes on as if nothing had happened.
@Suite("Writes that fail, and the saves after them")
struct WriteFailureTests {
    private static let limit = 1000
    private static let names = ["n.json", "b@blob.bin"]
    private let fixture: TreeFixture

    init() throws {
        var limits = RecordLimits.standard
        limits.textBytes = Self.limit
        fixture = try TreeFixture(limits: limits)
        fixture.observe()
        try fixture.put("{\"n\":1}", as: "n.json")
        try fixture.put("{}", as: "b.json")
        try fixture.put("{\"n\":1}", as: "b@blob.bin")
    }

    /// Fails for each kind of file: no record is so large, nor any file of a disk.
    private func fail(_ handle: HandleNumber) {
        #expect(throws: RecordError.self) {
            try fixture.write("more", to: handle, at: .max - 100)
        }
    }

    private func open(_ name: String, _ flags: Int32 = O_WRONLY | O_TRUNC) throws -> HandleNumber {
        try fixture.openNew(name, flags: flags)
    }

    @Test("the old content stands, and each close says why", arguments: names)
    func oldContent(name: String) throws {
        let before = try fixture.text(name)
        let handle = try open(name)
        try fixture.write("{\"n\":2}", to: handle)
        fail(handle)
        for _ in 1...2 { #expect(throws: RecordError.self) { try fixture.tree.flush(handle) } }
        #expect(throws: RecordError.self) {
            try fixture.tree.synchronize(handle, dataOnly: false)
        }
        fixture.tree.release(handle)
        #expect(try fixture.text(name) == before)
        #expect(fixture.tree.retryUnsaved())
        #expect(try fixture.text(name) == before)
        #expect(fixture.notices.take().contains { if case .content = $0 { true } else { false } })
        try fixture.put("{\"n\":3}", as: name)
        #expect(try fixture.text(name) == "{\"n\":3}")
    }

    @Test(
        "a name that was new goes with what could not be written", arguments: ["m.json", "n@x.bin"])
    func newName(name: String) throws {
        let handle = try open(name)
        try fixture.write("{\"n\":2}", to: handle)
        fail(handle)
        #expect(throws: RecordError.self) { try fixture.tree.flush(handle) }
        fixture.tree.release(handle)
        #expect(try fixture.text(name) == nil)
        #expect(try !fixture.names().contains(name))
        try fixture.put("{\"n\":3}", as: name)
        #expect(try fixture.text(name) == "{\"n\":3}")
    }

    @Test("who empties the file by opening it begins anew", arguments: names)
    func anew(name: String) throws {
        let first = try open(name)
        fail(first)
        let second = try open(name)
        try fixture.write("{\"n\":2}", to: second)
        try fixture.tree.flush(second)
        fixture.tree.release(second)
        fixture.tree.release(first)
        #expect(try fixture.text(name) == "{\"n\":2}")
    }

    @Test("a reader of the file goes on with the old content", arguments: names)
    func reader(name: String) throws {
        let before = try fixture.text(name)
        let reader = try open(name, O_RDONLY)
        let writer = try open(name)
        try fixture.write("{\"n\":2}", to: writer)
        fail(writer)
        fixture.tree.release(writer)
        #expect(try fixture.read(reader) == before)
        fixture.tree.release(reader)
    }

    @Test("a local file that is not whole becomes nothing else", arguments: names)
    func scratch(name: String) throws {
        let before = try fixture.text(name)
        let handle = try open("tmp")
        try fixture.write("{\"n\":2}", to: handle)
        fail(handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(throws: RecordError.self) { try fixture.rename("tmp", to: name) }
        #expect(try fixture.text(name) == before)
        #expect(try fixture.text("tmp") == "{\"n\":2}", "what could be written is there")
        try fixture.put("{\"n\":3}", as: "tmp")
        try fixture.rename("tmp", to: name)
        #expect(try fixture.text(name) == "{\"n\":3}")
    }

    @Test("bytes that are written after all are missing no more")
    func repeated() {
        let error = RecordError(.noSpace, "full")
        var failure: WriteFailure?
        failure.note(offset: 10, count: 20, error)
        failure.noteWrite(offset: 0, count: 10)
        #expect(failure != nil)
        failure.noteWrite(offset: 10, count: 5)
        failure.noteWrite(offset: 20, count: 10)
        #expect(failure != nil, "those from 15 on are missing")
        failure.noteWrite(offset: 15, count: 15)
        #expect(failure == nil)
        failure.note(offset: .max - 5, count: 100, error)
        failure.noteSize(0)
        #expect(failure != nil, "an emptied file is not what its writer meant")
        failure.noteWrite(offset: 0, count: 1)
        #expect(failure == nil)
        failure.note(offset: 0, count: 1, RecordError(.accessDenied, "no more"))
        #expect(failure == nil, "what was written before still counts")
    }

    @Test("a command with words that it does not know is refused with what was written")
    func unknownWords() throws {
        let node = try #require(try fixture.find(".recordfs/ctl")).node
        let handle = try fixture.tree.open(node, flags: O_WRONLY, caller: TreeFixture.user).handle
        let error = #expect(throws: RecordError.self) {
            try fixture.write("forget all this\n", to: handle)
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message == "forget all this: the command is forget cache")
        fixture.tree.release(handle)
    }

    @Test("a schema of which a part could not be written changes nothing")
    func control() throws {
        let path = ".recordfs/schema/development.ckdb"
        let before = try fixture.content(path)
        let node = try #require(try fixture.find(path)).node
        let handle = try fixture.tree.open(
            node, flags: O_WRONLY | O_TRUNC, caller: TreeFixture.user
        ).handle
        try fixture.write("DEFINE SCHEMA RECORD TYPE Recipe (title STRING);", to: handle)
        fail(handle)
        for _ in 1...2 { #expect(throws: RecordError.self) { try fixture.tree.flush(handle) } }
        fixture.tree.release(handle)
        #expect(try fixture.content(path) == before)
    }
}
