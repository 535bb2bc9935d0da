import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

/// The answers of read, write, lseek and fallocate on an open file of each kind.
@Suite("Open files of each kind")
struct HandleTableTests {
    /// SEEK_DATA and SEEK_HOLE of <unistd.h>.
    private static let (data, hole): (Int32, Int32) = (3, 4)

    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        try fixture.put(#"{"n":1}"#, as: "n.json")
        try fixture.put("bytes", as: "n@photo.jpg")
        try fixture.put("text", as: "s")
        #expect(throws: RecordError.self) { try fixture.put("{", as: "bad.json") }
        return fixture
    }

    private static let note = "private/Box/Note"
    private static let written = ["\(note)/n.json", "\(note)/n@photo.jpg", "\(note)/s"]
    private static let generated = [
        "README.md", "\(note)/.error", ".recordfs/status.json",
        ".recordfs/export/private/Box/Note.csv", ".recordfs/meta/private/Box/Note/n.json",
    ]

    @Test("holes and ends are found as in a file without holes", arguments: written + generated)
    func seek(path: String) throws {
        let fixture = try fixture()
        let entry = try #require(try fixture.find(path))
        let handle = try fixture.tree.open(entry.node, flags: O_RDONLY, caller: TreeFixture.user)
            .handle
        defer { fixture.tree.release(handle) }
        let size = entry.attributes.size
        #expect(size > 0)
        #expect(try fixture.tree.seek(handle, offset: 1, whence: Self.data) == 1)
        #expect(try fixture.tree.seek(handle, offset: 1, whence: Self.hole) == size)
        for offset in [size, size + 1, -1] {
            for whence in [Self.data, Self.hole] {
                let error = #expect(throws: RecordError.self) {
                    try fixture.tree.seek(handle, offset: offset, whence: whence)
                }
                #expect(error?.contractErrno == ENXIO, "\(offset)")
            }
        }
    }

    @Test("what is generated is not opened for writing", arguments: generated)
    func generatedWriting(path: String) throws {
        let fixture = try fixture()
        let entry = try #require(try fixture.find(path))
        #expect(
            try code {
                _ = try fixture.tree.open(entry.node, flags: O_WRONLY, caller: TreeFixture.user)
            } == .notPermitted)
        #expect(entry.attributes.mode & 0o222 == 0)
        #expect(try code { try fixture.tree.checkAccess(entry.node, mask: W_OK) } == .accessDenied)
    }

    @Test("a descriptor for reading takes no byte", arguments: written)
    func readOnly(path: String) throws {
        let fixture = try fixture()
        let entry = try #require(try fixture.find(path))
        let handle = try fixture.tree.open(entry.node, flags: O_RDONLY, caller: TreeFixture.user)
            .handle
        let before = try fixture.content(path)
        let error = #expect(throws: RecordError.self) { try fixture.write("x", to: handle) }
        #expect(error?.contractErrno == EBADF)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.content(path) == before)
        // Its number is nothing any more.
        #expect(throws: RecordError.self) { try fixture.read(handle) }
        fixture.tree.release(handle)
    }

    @Test(
        "appending writes at the end wherever the offset is, but pages of a mapping have their own",
        arguments: ["n@photo.jpg", "s"], [false, true])
    func append(name: String, isWriteback: Bool) throws {
        let fixture = try fixture()
        let before = try #require(try fixture.text(name))
        let handle = try fixture.openNew(name, flags: O_WRONLY | O_APPEND)
        try Array("X".utf8).withUnsafeBytes {
            try fixture.tree.write(handle, offset: 1, data: $0, isWriteback: isWriteback)
        }
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        let mapped = "\(before.prefix(1))X\(before.dropFirst(2))"
        #expect(try fixture.text(name) == (isWriteback ? mapped : "\(before)X"))
    }

    @Test("space is reserved in scratch alone")
    func allocate() throws {
        let fixture = try fixture()
        for (name, expected) in [("n.json", EOPNOTSUPP), ("n@photo.jpg", EOPNOTSUPP), ("s", 0)] {
            let handle = try fixture.openNew(name)
            defer { fixture.tree.release(handle) }
            var got: Int32 = 0
            do throws(RecordError) {
                try fixture.tree.allocate(handle, mode: 0, offset: 0, length: 100)
            } catch {
                got = error.contractErrno
            }
            #expect(got == expected, "\(name)")
        }
        #expect(try fixture.lookup("s")?.attributes.size == 100)
        #expect(try fixture.lookup("n@photo.jpg")?.attributes.size == 5)
    }

    @Test("a directory is no file to read or write")
    func directory() throws {
        let fixture = try fixture()
        #expect(
            try code {
                _ = try fixture.tree.open(
                    fixture.notes, flags: O_RDONLY, caller: TreeFixture.user)
            } == .isDirectory)
        let listing = try fixture.tree.openDirectory(fixture.notes).handle
        defer { fixture.tree.release(listing) }
        #expect(try code { _ = try fixture.read(listing) } == .isDirectory)
        #expect(try code { try fixture.write("x", to: listing) } != nil)
    }

    @Test(
        "pages that mappings may have written are asked for of each file that is open for writing")
    func pages() throws {
        let fixture = try fixture()
        #expect(fixture.tree.pagesOfOpenFiles() == [])
        var expected: Set<KernelNotice> = []
        var handles: [HandleNumber] = []
        for (name, flags) in [
            ("n.json", O_RDWR), ("n.json", O_WRONLY), ("n@photo.jpg", O_RDWR), ("s", O_WRONLY),
            ("bad.json", O_RDONLY), ("new.json", O_RDWR),
        ] {
            handles.append(try fixture.openNew(name, flags: flags))
            let node = try #require(try fixture.lookup(name)).node
            if flags != O_RDONLY { expected.insert(.content(node)) }
        }
        for path in [".recordfs/ctl", ".recordfs/schema/development.ckdb"] {
            let node = try #require(try fixture.find(path)).node
            handles.append(
                try fixture.tree.open(node, flags: O_WRONLY, caller: TreeFixture.user).handle)
        }
        let notices = fixture.tree.pagesOfOpenFiles()
        #expect(Set(notices) == expected && notices.count == expected.count)
        for handle in handles { fixture.tree.release(handle) }
        #expect(fixture.tree.pagesOfOpenFiles() == [])
    }
}
