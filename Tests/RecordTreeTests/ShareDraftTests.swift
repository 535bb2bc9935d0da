import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Texts of shares that the server has refused, under each call that programs make (Sharing,
/// "Refused texts"): a draft shares nothing, and goes with the reason beside it.
@Suite("Drafts of shares")
struct ShareDraftTests {
    /// The files of a zone's share and of a record's share.
    private static let paths = [".share.json", "Note/.n.share.json"]
    private static let draft = #"{"with":["nobody"]}"#

    private func fixture(_ path: String) throws -> ShareFixture {
        let fixture = try ShareFixture()
        fixture.server.refuse("save", with: .invalidRecord)
        #expect(try code { try fixture.write(Self.draft, to: path) } == .invalidRecord)
        #expect(fixture.server.take() == ["save \(Self.draft)"])
        fixture.server.refuse("save", with: nil)
        return fixture
    }

    private func error(_ path: String) -> String { path.replacing(".json", with: ".error") }

    private func directory(_ path: String) -> String {
        path.contains("/") ? "private/Box/Note" : "private/Box"
    }

    /// Lists the directory of a share's file.
    private func names(_ path: String, _ fixture: ShareFixture) throws -> [String] {
        try fixture.tree.names(in: #require(try fixture.tree.find(directory(path))).node)
    }

    private func name(_ path: String) -> String { path.replacing("Note/", with: "") }

    private func exchange(_ path: String, _ other: String, _ fixture: ShareFixture) throws {
        let (source, target) = (try fixture.place(path), try fixture.place(other))
        try fixture.tree.tree.rename(
            parent: source.parent, name: source.name.b, newParent: target.parent,
            newName: target.name.b, flags: 2, caller: TreeFixture.user)
    }

    @Test(
        "a refused text and its reason are listed, and read as they were written", arguments: paths)
    func shown(path: String) throws {
        let fixture = try fixture(path)
        #expect(try fixture.read(path) == Self.draft)
        let reason = try #require(try fixture.read(error(path)))
        #expect(reason.hasPrefix("\(name(path)): the server says no"))
        #expect(reason.contains("rm \(name(path))"))
        let listed = try names(path, fixture)
        #expect(listed.contains(name(path)) && listed.contains(name(error(path))))
        #expect(try fixture.tree.store.sharing.shares(in: fixture.zone).isEmpty)
    }

    @Test("a draft that is moved away takes its reason along, to any name", arguments: paths)
    func movedAway(path: String) throws {
        for target in ["Note/notes.txt", ".notes", "Note/other.json"] {
            let fixture = try fixture(path)
            try fixture.rename(path, to: target)
            #expect(try fixture.read(target) == Self.draft, "\(target)")
            #expect(try fixture.read(path) == nil, "\(target)")
            #expect(try fixture.read(error(path)) == nil, "\(target)")
            #expect(fixture.server.take() == [], "a rename away asks nothing")
        }
    }

    @Test("a share and its draft are exchanged with no other file", arguments: paths)
    func exchanged(path: String) throws {
        let fixture = try fixture(path)
        try fixture.tree.put("mine", as: "s")
        func check(_ shown: String) throws {
            for other in ["Note/s", "Note/n.json"] {
                #expect(
                    try code { try exchange(path, other, fixture) } == .notPermitted, "\(other)")
                #expect(
                    try code { try exchange(other, path, fixture) } == .notPermitted, "\(other)")
            }
            #expect(try fixture.read(path) == shown)
            #expect(try fixture.tree.text("s") == "mine")
            #expect(try fixture.tree.text("n.json") == #"{"n":1}"#)
        }
        try check(Self.draft)
        try fixture.remove(path)
        try fixture.share(path.contains("/") ? "n" : nil)
        try check(ShareFixture.text + "\n")
        #expect(fixture.server.take() == [])
    }

    @Test("only a regular file takes the name of a share", arguments: paths)
    func otherKinds(path: String) throws {
        let fixture = try ShareFixture()
        let (parent, name) = try fixture.place(path)
        let tree = fixture.tree.tree
        try fixture.tree.put("mine", as: "s")
        let source = try #require(try fixture.tree.lookup("s")).node
        _ = try tree.makeDirectory(parent: fixture.tree.notes, name: "dir".b, mode: 0o755)
        let calls: [() throws -> Void] = [
            { _ = try tree.makeDirectory(parent: parent, name: name.b, mode: 0o755) },
            { _ = try tree.makeSymlink(parent: parent, name: name.b, target: "s".b) },
            {
                _ = try tree.makeNode(
                    parent: parent, name: name.b, mode: UInt32(S_IFIFO), caller: TreeFixture.user)
            },
            { _ = try tree.link(source, newParent: parent, newName: name.b) },
            { try fixture.rename("Note/dir", to: path) },
        ]
        for (number, call) in calls.enumerated() {
            #expect(try code(call) == .notPermitted, "call \(number)")
            #expect(try fixture.read(path) == nil, "call \(number)")
        }
        #expect(fixture.server.take() == [])
        #expect(try fixture.tree.lookup("dir") != nil)
    }

    @Test("each refusal replaces the reason of the one before", arguments: paths)
    func replaced(path: String) throws {
        let fixture = try fixture(path)
        for code in [RecordError.Code.unavailable, .accessDenied, .invalidRecord] {
            fixture.server.refuse("save", with: code)
            let text = #"{"with":["\#(code.rawValue)"]}"#
            #expect(try RecordTreeTests.code { try fixture.write(text, to: path) } == code)
            #expect(try fixture.read(path) == text)
            #expect(try names(path, fixture).filter { $0.hasSuffix(".error") }.count == 1)
        }
        fixture.server.refuse("save", with: nil)
        try fixture.write("{}", to: path)
        #expect(try fixture.read(path) == nil && fixture.read(error(path)) == nil)
    }

    @Test("a draft outlives the mount with its reason, and a crash", arguments: paths)
    func remounted(path: String) throws {
        let fixture = try fixture(path)
        let copy = try TreeFixture(after: fixture.tree)
        let listed = try copy.names(
            in: #require(try copy.find(directory(path))).node)
        #expect(listed.contains(name(path)) && listed.contains(name(error(path))))
        try fixture.tree.remount()
        #expect(try fixture.read(path) == Self.draft)
        try fixture.remove(path)
        #expect(try fixture.read(error(path)) == nil)
        #expect(fixture.server.take() == [])
    }

    @Test("a close or a change of a share's name may ask the server, and no other call does")
    func mayAsk() throws {
        let fixture = try ShareFixture()
        try fixture.share()
        let tree = fixture.tree.tree
        let box = try #require(try fixture.tree.find("private/Box")).node
        let notes = fixture.tree.notes
        let database = try #require(try fixture.tree.find("private")).node
        let scratch = try tree.makeDirectory(parent: notes, name: "d".b, mode: 0o755).node
        let names: [(NodeNumber, String, Bool)] = [
            (box, ".share.json", true), (notes, ".n.share.json", true),
            (notes, ".share.json", true), (database, ".share.json", true),
            (notes, "n.json", false), (notes, "s", false), (box, ".share.error", false),
            (scratch, ".share.json", false), (.root, ".share.json", false),
        ]
        for (parent, name, mayAsk) in names {
            #expect(tree.mayAskServer(about: name.b, in: parent) == mayAsk, "\(name)")
        }
        for (path, flags, mayAsk) in [
            (".share.json", O_WRONLY, true), (".share.json", O_RDONLY, false),
            ("Note/.n.share.json", O_WRONLY, true), ("Note/n.json", O_WRONLY, false),
            ("Note/s", O_WRONLY, false), (".other", O_WRONLY, false),
        ] {
            let handle = try fixture.open(path, flags)
            #expect(tree.mayAskServer(closing: handle) == mayAsk, "\(path)")
            tree.release(handle)
            #expect(!tree.mayAskServer(closing: handle), "\(path) is closed")
        }
    }
}
