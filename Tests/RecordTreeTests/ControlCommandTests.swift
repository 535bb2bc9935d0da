import Glibc
import RecordModel
import RecordStore
import RecordTree
import Synchronization
import Testing

/// The lines of `.recordfs/ctl`, and `rm` in `.recordfs/errors` (ControlDirectory, "Commands").
@Suite("Commands to the mount")
struct ControlCommandTests {
    private final class Verbs: Sendable {
        private let list = Mutex<[ControlVerb]>([])
        func add(_ verb: ControlVerb) { list.withLock { $0.append(verb) } }
        var all: [ControlVerb] { list.withLock(\.self) }
    }

    private func control(_ text: String, _ fixture: TreeFixture) throws -> RecordError.Code? {
        let node = try #require(try fixture.find(".recordfs/ctl")).node
        let handle = try fixture.tree.open(node, flags: O_WRONLY, caller: TreeFixture.user).handle
        defer { fixture.tree.release(handle) }
        return try code { try fixture.write(text, to: handle) }
    }

    @Test(
        "each line runs while it is written",
        arguments: [
            ("sync\n", [ControlVerb.sync]), ("pause", [.pause]),
            ("resume\nsync\n", [.resume, .sync]),
            ("  retry  \n", [.retry]), ("\n\n", []),
        ])
    func lines(text: String, verbs: [ControlVerb]) throws {
        let run = Verbs()
        let fixture = try TreeFixture(
            server: ServerBridge(
                status: { .object([]) }, run: { (verb) throws(RecordError) in run.add(verb) }))
        #expect(try control(text, fixture) == nil)
        #expect(run.all == verbs)
    }

    @Test(
        "what is no command is an error of write, and none of a verb that has no line",
        arguments: [
            ("sing\n", RecordError.Code.invalidArgument), ("flush", .invalidArgument),
            ("shutdown\n", .invalidArgument), ("forget\n", .invalidArgument),
            ("forget me\n", .invalidArgument), ("SYNC\n", .invalidArgument),
            ("sync\n", .unsupported), ("pause", .unsupported),
        ])
    func refused(text: String, expected: RecordError.Code) throws {
        let fixture = try TreeFixture()
        #expect(try control(text, fixture) == expected)
    }

    @Test("forget cache makes the kernel forget all databases, and retry needs no server")
    func forget() throws {
        let fixture = try TreeFixture()
        _ = fixture.notices.take()
        #expect(try control("forget cache\nretry\n", fixture) == nil)
        #expect(fixture.notices.take().count == Database.allCases.count)
    }

    @Test("rm in errors discards the draft: what is saved shows again, and a new name goes")
    func discarded() throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"n":1}"#, as: "n.json")
        for name in ["n.json", "new.json"] {
            #expect(try code { try fixture.put("{", as: name) } == .invalidJSON)
        }
        let errors = try fixture.control("errors")
        let names = try fixture.names(in: errors)
        #expect(names.count == 2)
        for name in names {
            #expect(try fixture.content(".recordfs/errors/\(name)").contains("line 1"))
            try fixture.tree.remove(parent: errors, name: name.b, caller: TreeFixture.user)
        }
        #expect(try fixture.names(in: errors) == [])
        #expect(try fixture.text("n.json") == #"{"n":1}"#)
        #expect(try fixture.names() == ["n.json"])
        #expect(
            try code {
                try fixture.tree.remove(parent: errors, name: names[0].b, caller: TreeFixture.user)
            } == .notFound)
    }
}
