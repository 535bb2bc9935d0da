import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// The files `.share.json` and `.NAME.share.json`: what a save, a rename and `rm` ask the server, and
/// what stays of a refusal (Sharing, "The file of a share").
@Suite("Files of shares")
struct ShareFileTests {
    static let names = [".share.json", "Note/.n.share.json"]

    private func root(_ name: String) -> String? { name == ".share.json" ? nil : "n" }
    private func errorName(_ name: String) -> String { name.dropLast(4) + "error" }

    @Test("a text that the server takes is asked for once, and leaves no file", arguments: names)
    func made(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.write(#"{"title":"a"}"#, to: name)
        #expect(fixture.server.take() == [#"save {"title":"a"}"#])
        // The server tells of the share by a feed. Until then nothing is shared.
        #expect(try fixture.read(name) == nil)
        try fixture.share(root(name))
        #expect(try fixture.read(name) == ShareFixture.text + "\n")
        #expect(try fixture.tree.find("\(fixture.directory)/\(name)")?.attributes.mode == 0o100644)
    }

    @Test("each text is asked for once a handle, however often it is closed", arguments: names)
    func closedTwice(name: String) throws {
        let fixture = try ShareFixture()
        fixture.server.refuse("save", with: .invalidRecord)
        let handle = try fixture.open(name)
        try fixture.tree.tree.flush(handle)
        #expect(fixture.server.take() == [], "an empty text is a save in progress")
        try fixture.tree.write("{}", to: handle)
        #expect(fixture.tree.tree.mayAskServer(closing: handle))
        #expect(try code { try fixture.tree.tree.flush(handle) } == .invalidRecord)
        _ = try code { try fixture.tree.tree.flush(handle) }
        fixture.tree.tree.release(handle)
        #expect(fixture.server.take() == ["save {}"])
    }

    @Test(
        "the kernel asks for a draft and its reason each time, also after a listing",
        arguments: names)
    func notKept(name: String) throws {
        let fixture = try ShareFixture()
        fixture.server.refuse("save", with: .invalidRecord)
        let (parent, draft) = try fixture.place(name)
        let (made, opened) = try fixture.tree.tree.create(
            parent: parent, name: draft.b, mode: 0o644, flags: O_WRONLY, caller: TreeFixture.user)
        #expect(!made.isCacheable)
        try fixture.tree.write("{}", to: opened.handle)
        #expect(try code { try fixture.tree.tree.flush(opened.handle) } == .invalidRecord)
        fixture.tree.tree.release(opened.handle)
        for shown in [draft, errorName(draft)] {
            #expect(try fixture.tree.lookup(shown, in: parent)?.isCacheable == false)
            let listed = try fixture.tree.entries(in: parent).first { $0.name == shown.b }
            #expect(listed?.entry.isCacheable == false)
        }
    }

    @Test(
        "a refused text stays as a draft with its reason beside it, and a good one takes both away",
        arguments: names, [false, true])
    func refused(name: String, isShared: Bool) throws {
        let fixture = try ShareFixture()
        if isShared { try fixture.share(root(name)) }
        fixture.server.refuse("save", with: .invalidRecord)
        #expect(try code { try fixture.write(#"{"bad":1}"#, to: name) } == .invalidRecord)
        #expect(try fixture.read(name) == #"{"bad":1}"#)
        let reason = try #require(try fixture.read(errorName(name)))
        #expect(reason.contains("the server says no") && reason.contains("rm "), "\(reason)")
        fixture.server.refuse("save", with: nil)
        try fixture.write(#"{"good":1}"#, to: name)
        #expect(try fixture.read(errorName(name)) == nil)
        #expect(try fixture.read(name) == (isShared ? ShareFixture.text + "\n" : nil))
    }

    @Test("rm of a draft discards it and asks nothing; the share is shown again", arguments: names)
    func draftRemoved(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        fixture.server.refuse("save", with: .unavailable)
        #expect(try code { try fixture.write("{", to: name) } == .unavailable)
        _ = fixture.server.take()
        try fixture.remove(name)
        #expect(fixture.server.take() == [])
        #expect(try fixture.read(name) == ShareFixture.text + "\n")
        #expect(try fixture.read(errorName(name)) == nil)
    }

    @Test(
        "a rename onto the file saves it, and a refused one is EPROTO with a draft",
        arguments: names)
    func renamed(name: String) throws {
        let fixture = try ShareFixture()
        let new = name == ".share.json" ? ".new" : "Note/.new"
        try fixture.write(#"{"title":"b"}"#, to: new)
        fixture.server.refuse("save", with: .invalidRecord)
        #expect(try code { try fixture.rename(new, to: name) } == .refusedRename)
        #expect(try fixture.read(name) == #"{"title":"b"}"#)
        #expect(try fixture.read(new) == #"{"title":"b"}"#, "the file is still there")
        fixture.server.refuse("save", with: .accessDenied)
        try fixture.remove(name)
        #expect(try code { try fixture.rename(new, to: name) } == .accessDenied)
        #expect(try fixture.read(name) == nil, "no draft for who may not change the share")
        fixture.server.refuse("save", with: nil)
        _ = fixture.server.take()
        try fixture.rename(new, to: name)
        #expect(fixture.server.take() == [#"save {"title":"b"}"#])
        #expect(try fixture.read(new) == nil)
    }

    @Test("rm ends the share after the grace time, and it is not shown meanwhile", arguments: names)
    func ended(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        try fixture.remove(name)
        #expect(fixture.server.take() == ["check"])
        #expect(try fixture.read(name) == nil)
        #expect(try code { try fixture.remove(name) } == .notFound)
        try fixture.pass(1)
        #expect(fixture.server.take() == [])
        try fixture.pass(3)
        #expect(fixture.server.take() == ["end"])
    }

    @Test("a file that is made again in the grace time keeps the share", arguments: names)
    func replaced(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        try fixture.remove(name)
        try fixture.write(#"{"title":"c"}"#, to: name)
        #expect(fixture.server.take() == ["check", #"save {"title":"c"}"#])
        try fixture.pass(4)
        #expect(fixture.server.take() == [])
        try fixture.pass(60)
        #expect(try fixture.read(name) == ShareFixture.text + "\n")
    }

    @Test("a share that the server cannot be asked about is not removed", arguments: names)
    func uncheckable(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        fixture.server.refuse("check", with: .unavailable)
        #expect(try code { try fixture.remove(name) } == .unavailable)
        try fixture.pass(70)
        #expect(fixture.server.take() == ["check"])
        #expect(try fixture.read(name) != nil)
    }

    @Test("an end is asked for again every 10 s while the server is away", arguments: names)
    func away(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        try fixture.remove(name)
        fixture.server.refuse("end", with: .unavailable)
        try fixture.pass(4)
        try fixture.pass(5)
        #expect(fixture.server.take() == ["check", "end"])
        try fixture.pass(6)
        #expect(fixture.server.take() == ["end"])
        #expect(try fixture.read(name) == nil)
        fixture.server.refuse("end", with: nil)
        try fixture.pass(11)
        try fixture.pass(11)
        #expect(fixture.server.take() == ["end"])
    }

    @Test("a share that cannot be ended is here again, with the reason beside it", arguments: names)
    func refusedEnd(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        try fixture.remove(name)
        fixture.server.refuse("end", with: .accessDenied)
        try fixture.pass(4)
        #expect(try fixture.read(name) == ShareFixture.text + "\n")
        let reason = try #require(try fixture.read(errorName(name)))
        #expect(reason.contains("The share continues"), "\(reason)")
        _ = fixture.server.take()
        try fixture.pass(20)
        #expect(fixture.server.take() == [])
    }

    @Test("an end goes on after a remount", arguments: names)
    func remounted(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        try fixture.remove(name)
        fixture.server.refuse("end", with: .unavailable)
        _ = fixture.server.take()
        try fixture.tree.remount()
        _ = fixture.server.take()
        fixture.server.refuse("end", with: nil)
        try fixture.pass(0)
        #expect(fixture.server.take() == ["end"])
    }

    @Test("an editor's backup leaves the share, which is shown again after 3 s", arguments: names)
    func backup(name: String) throws {
        let fixture = try ShareFixture()
        try fixture.share(root(name))
        let backup = name == ".share.json" ? ".old" : "Note/.old"
        try fixture.rename(name, to: backup)
        #expect(try fixture.read(backup) == ShareFixture.text + "\n")
        #expect(try fixture.read(name) == nil)
        try fixture.pass(4)
        #expect(try fixture.read(name) == ShareFixture.text + "\n")
        #expect(fixture.server.take() == [])
        let other = name == ".share.json" ? "Note/.n.share.json" : ".share.json"
        #expect(try code { try fixture.rename(name, to: other) } == .notPermitted)
        #expect(try code { try fixture.rename(name, to: "Note/x.json") } == .notPermitted)
    }

    @Test("a copy of a share's text shares nothing, and the share's own text changes it")
    func copied() throws {
        let fixture = try ShareFixture()
        try fixture.share()
        try fixture.write(ShareFixture.text, to: "Note/.n.share.json")
        #expect(fixture.server.take() == [])
        #expect(try fixture.read("Note/.n.share.json") == nil)
        try fixture.write(ShareFixture.text, to: "Note/.gone.share.json")
        #expect(fixture.server.take() == [], "also when it is copied before its record")
        try fixture.write(ShareFixture.text, to: ".share.json")
        #expect(fixture.server.take() == ["save " + ShareFixture.text])
    }

    @Test("a share that is in the way of another one and was removed ends at once")
    func inTheWay() throws {
        let fixture = try ShareFixture()
        try fixture.share("n")
        try fixture.remove("Note/.n.share.json")
        fixture.server.refuse("save", with: .alreadyExists)
        #expect(try code { try fixture.write("{}", to: ".share.json") } == .alreadyExists)
        #expect(fixture.server.take() == ["check", "save {}", "end", "save {}"])
    }

    @Test(
        "nothing is shared under a name that has no zone or record",
        arguments: [
            ("Note/.gone.share.json", "no record"), ("Note/.share.json", ".NAME.share.json"),
        ])
    func nothing(name: String, words: String) throws {
        let fixture = try ShareFixture()
        #expect(try code { try fixture.write("{}", to: name) } != nil)
        #expect(fixture.server.take() == [])
        #expect(try fixture.read(errorName(name))?.contains(words) == true)
    }
}
