import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A file of a record that becomes a local file, as the backup of an editor does, in place of
/// another local file.
@Suite struct SetAsideTests {
    private let fixture: TreeFixture
    /// The text that the record shows, with its large field.
    private let record: String?

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"n":1}"#, as: "n.json")
        try fixture.put("a picture", as: "n@photo.jpg")
        record = try fixture.text("n.json")
    }

    private func text(of name: String) -> String? { name == "n.json" ? record : "a picture" }

    @Test("replaces the file", arguments: ["n.json", "n@photo.jpg"])
    func replaced(name: String) throws {
        try fixture.put("the former backup", as: "backup~")
        try fixture.rename(name, to: "backup~")
        #expect(try fixture.text("backup~") == text(of: name))
        #expect(try fixture.text(name) == nil)
        try expectNoLeftover()
    }

    @Test(
        "leaves both files as they are when the change is not stored",
        arguments: ["n.json", "n@photo.jpg"], [true, false])
    func failed(name: String, isReplaced: Bool) throws {
        if isReplaced { try fixture.put("the former backup", as: "backup~") }
        let number = try fixture.lookup("backup~")?.node
        let handle = try isReplaced ? fixture.openNew("backup~", flags: O_RDWR) : nil
        try fixture.failCommits()
        #expect(throws: RecordError.self) { try fixture.rename(name, to: "backup~") }
        try fixture.letCommitsPass()
        #expect(try fixture.text(name) == text(of: name))
        #expect(try fixture.text("backup~") == (isReplaced ? "the former backup" : nil))
        #expect(try fixture.lookup("backup~")?.node == number)
        if let handle {
            #expect(try fixture.read(handle) == "the former backup")
            try fixture.write("THE", to: handle)
            fixture.tree.release(handle)
            #expect(try fixture.text("backup~") == "THE former backup")
        }
        try expectNoLeftover()
        try fixture.rename(name, to: "backup~")
        #expect(try fixture.text("backup~") == text(of: name))
    }

    @Test("replaces no directory", arguments: ["n.json", "n@photo.jpg"])
    func directory(name: String) throws {
        _ = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: "backup~".b, mode: 0o755, caller: TreeFixture.user)
        #expect(throws: RecordError.self) { try fixture.rename(name, to: "backup~") }
        #expect(try fixture.text(name) == text(of: name))
        #expect(try fixture.lookup("backup~").map { $0.attributes.mode & S_IFMT } == S_IFDIR)
        try expectNoLeftover()
    }

    /// Looks for files that have no name in the mount.
    private func expectNoLeftover() throws {
        let scratch = fixture.directory + "/scratch"
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch)
        #expect(names.allSatisfy { !$0.hasPrefix(".new-") })
    }
}
