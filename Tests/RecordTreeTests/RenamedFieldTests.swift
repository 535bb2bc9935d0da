import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Files of large fields that are open while they are renamed, and renames that are refused: the
/// errno, and that everything stays (MountContract, "Scratch" and "Exchanges and links").
@Suite("Renames of large fields")
struct RenamedFieldTests {
    private static let long = String(repeating: "long ", count: 40)

    /// The record n with the file n@photo.jpg and the long value n@text, and local files.
    private func fixture() throws -> TreeFixture {
        var limits = RecordLimits()
        limits.shownValueBytes = 64
        let fixture = try TreeFixture(limits: limits)
        fixture.observe()
        try fixture.put("{\"text\":\"\(Self.long)\"}", as: "n.json")
        try fixture.put("photo", as: "n@photo.jpg")
        for name in ["s", "linked"] { try fixture.put("bytes of \(name)", as: name) }
        let node = try #require(try fixture.lookup("linked")).node
        _ = try fixture.tree.link(node, newParent: fixture.notes, newName: "link".b)
        _ = try fixture.tree.makeDirectory(parent: fixture.notes, name: "dir".b, mode: 0o755)
        _ = try fixture.tree.makeSymlink(parent: fixture.notes, name: "sym".b, target: "s".b)
        return fixture
    }

    private func end(_ handles: [HandleNumber], _ fixture: TreeFixture) throws {
        for handle in handles {
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
        }
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
    }

    @Test(
        "who writes a file that becomes a field goes on in it, over the old bytes or as a new field",
        arguments: ["n@photo.jpg", "n@other.bin"])
    func download(name: String) throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("part", flags: O_RDWR)
        try fixture.write("one", to: handle)
        try fixture.rename("part", to: name)
        #expect(try fixture.text(name) == "one")
        try fixture.write("two", to: handle, at: 3)
        #expect(try fixture.read(handle) == "onetwo")
        try end([handle], fixture)
        #expect(try fixture.text(name) == "onetwo")
        #expect(try fixture.text("n.json")?.contains("\"size\":6") == true)
    }

    @Test("who writes a field that goes to another name goes on there, and the field leaves")
    func rotated() throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("n@photo.jpg", flags: O_RDWR)
        try fixture.write("P", to: handle)
        try fixture.rename("n@photo.jpg", to: "old")
        try fixture.write("H", to: handle, at: 1)
        try end([handle], fixture)
        #expect(try fixture.text("old") == "PHoto")
        #expect(try fixture.lookup("n@photo.jpg") == nil)
        #expect(try fixture.text("n.json")?.contains("photo") == false)
    }

    @Test("a field and a local file that are exchanged while open go on as what they are now")
    func exchanged() throws {
        let fixture = try fixture()
        let field = try fixture.openNew("n@photo.jpg", flags: O_RDWR)
        let local = try fixture.openNew("s", flags: O_RDWR)
        try fixture.rename("s", to: "n@photo.jpg", flags: 2)
        try fixture.write("F", to: field)
        try fixture.write("L", to: local)
        try end([field, local], fixture)
        #expect(try fixture.text("s") == "Fhoto")
        #expect(try fixture.text("n@photo.jpg") == "Lytes of s")
    }

    /// From, to, flags, and the errno.
    private static let refusals: [(String, String, UInt32, Int32)] = [
        ("dir", "n@photo.jpg", 0, EPERM), ("sym", "n@photo.jpg", 0, EPERM),
        ("linked", "n@photo.jpg", 0, EXDEV), ("linked", "n@photo.jpg", 2, EXDEV),
        ("link", "n@new.bin", 0, EXDEV), ("none", "n@photo.jpg", 0, ENOENT),
        ("s", "n@photo.jpg", 1, EEXIST), ("n@photo.jpg", "s", 1, EEXIST),
        ("n@photo.jpg", "dir", 0, EISDIR), ("n@photo.jpg", "n.json", 0, EXDEV),
        ("n.json", "n@photo.jpg", 0, EXDEV), ("n.json", "n@photo.jpg", 2, EXDEV),
        ("n@text", "m@text", 0, EXDEV), ("n@text", "n@photo.jpg", 2, EXDEV),
        ("n@photo.jpg", "s", 4, EINVAL),
    ]

    @Test("a refused rename leaves every file as it was", arguments: refusals)
    func refused(from: String, to: String, flags: UInt32, expected: Int32) throws {
        let fixture = try fixture()
        let names = ["n.json", "n@photo.jpg", "n@text", "s", "linked", "link"]
        func shown() throws -> [String] {
            try names.map { try fixture.text($0) ?? "-" } + fixture.names()
        }
        let before = try shown()
        let error = #expect(throws: RecordError.self) {
            try fixture.rename(from, to: to, flags: flags)
        }
        #expect(error?.contractErrno == expected)
        #expect(try shown().filter { $0 != ".error" } == before)
    }

    @Test("a file that is being written does not become a value, which would lose the rest")
    func value() throws {
        let fixture = try fixture()
        let handle = try fixture.openNew("s", flags: O_RDWR)
        #expect(try code { try fixture.rename("s", to: "n@text") } == .crossDevice)
        fixture.tree.release(handle)
        #expect(try fixture.text("n@text") == Self.long)
        try fixture.rename("s", to: "n@text")
        #expect(try fixture.text("n.json")?.contains("\"text\":\"bytes of s\"") == true)
        #expect(try fixture.lookup("s") == nil && fixture.lookup("n@text") == nil)
    }

    @Test(
        "bytes that are not here are not moved away: read them first",
        arguments: [("n@photo.jpg", "new", UInt32(0)), ("n@photo.jpg", "s", 2)])
    func unavailable(from: String, to: String, flags: UInt32) throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.receiveRemoteAsset(name: "n", field: "photo", size: 5)
        try fixture.put("bytes", as: "s")
        #expect(try code { try fixture.rename(from, to: to, flags: flags) } == .unavailable)
        #expect(try fixture.names() == ["n.json", "n@photo.jpg", "s"])
        #expect(try fixture.text("s") == "bytes")
    }
}
