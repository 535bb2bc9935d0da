import RecordModel
import RecordStore
import RecordTree
import Testing

/// Which names a tool has made for a moment, and what a name was probably meant to be
/// (MountContract, "Forgotten files"; `recordfs scratch`).
@Suite("Names of files on this machine only")
struct TemporaryNameTests {
    @Test(
        "what a killed tool leaves behind is temporary",
        arguments: [
            ".n.json.swp", ".n.swo", ".n.json.swa", ".n.json.svz", ".n.json.kate-swp", "n.json~",
            "~~", "#n.json#", ".#n.json", ".~lock.n.json#", "4913", "5036", "sedA1b2C3",
            "XXAb1cd2", ".n.json.Ab1cd2", "n.json.Ab1cd2", ".n@photo.jpg.Ab1cd2",
            "n.json.oAb1cd2", "lu123abc.tmp", ".goutputstream-Ab1cd2", "n.json___jb_tmp___",
            "n.json___jb_old___",
        ])
    func temporary(name: String) {
        #expect(TemporaryName.isTemporary(name.b, isDirectory: false, size: 0))
        // A directory of that name is somebody's.
        #expect(!TemporaryName.isTemporary(name.b, isDirectory: true, size: 0))
    }

    @Test(
        "what a person may have named is not",
        arguments: [
            "notes.md", ".git", "C.JSON", ".swp", ".n.swpx", ".n.s1p", ".n.sxx", "~", "#", "#n",
            "n#", ".#", "4914", "49130", "004913x", "sedition1", "sedA1b2C", "XXAb1cd",
            ".config.json.backup", ".n.json.abcdef", ".n.json.ABCDEF7", "notes.Ab1cd2",
            ".n.json.Ab1_d2", "lunch.tmp", "lu12.tmp", ".goutputstream-Ab1", "___jb_tmp___",
            ".~lock.n.json",
        ])
    func own(name: String) {
        #expect(!TemporaryName.isTemporary(name.b, isDirectory: false, size: 0))
    }

    @Test("vim's probe is one while it is empty, and rsync's directory is one")
    func probe() {
        #expect(!TemporaryName.isTemporary("4913".b, isDirectory: false, size: 1))
        #expect(TemporaryName.isTemporary(".~tmp~".b, isDirectory: true, size: 0))
    }

    @Test(
        "a name with a tool's ending is beside a field, in any case of letters, and no field's file",
        arguments: [
            "n@f.part", "n@f.jpg.PARTIAL", "n@f.jpg.crdownload", "n@f.tmp", "n@f.jpg.bak",
            "n@f.Orig", "n@f.!ut", "n@f.db-journal", "n@f.db-wal", "n@f.db-shm",
            "n@f.jpg_original", "n@f.jpg_exiftool_tmp", "n@f.jpg~", "n@f.jpg#", "n@f.~1~",
            "n@f.jpg.sha256", "n@f.jpg.asc", "n@f.0.jpg.minisig",
        ])
    func beside(name: String) {
        #expect(TemporaryName.isBesideField(name.b))
    }

    @Test(
        "a field's own checksum or journal is its file",
        arguments: ["n@f.sha256", "n@f.asc", "n@f", "n@f-journal", "n@part.jpg", "n@f.parts"])
    func field(name: String) {
        #expect(!TemporaryName.isBesideField(name.b))
    }

    /// The line of `recordfs scratch` about a file beside the record n with the field photo.
    private static let guesses: [(String, String?)] = [
        ("tea.jsn", "tea.json"), ("tea.JSON", "tea.json"), ("tea.json.txt", "tea.json"),
        ("tea.jso", "tea.json"), ("tea.jsoon", "tea.json"), ("tea.josn", "tea.json"),
        ("tea.jpg", nil), ("tea.js", nil), ("tea.txt", nil), ("json", nil), (".tea.jsn", nil),
        ("tea.jsn~", nil), ("n.txt", "n@FIELD.txt"), ("n@photo.png", "n@photo.jpg"),
        ("n@photo.jpg.part", nil), ("n@other.a\u{7}", "64 bytes"), ("m@photo.jpg.x\u{7}", "64"),
    ]

    @Test("a name that looks like a mistake is told with what was meant", arguments: guesses)
    func guess(name: String, meant: String?) throws {
        let fixture = try TreeFixture()
        try fixture.put(#"{"a":1}"#, as: "n.json")
        try fixture.put("bytes", as: "n@photo.jpg")
        try fixture.put("text", as: name)
        let files = try ScratchFile.all(in: fixture.store)
        let file = try #require(files.first)
        #expect(files.count == 1)
        #expect(file.path == "private/Box/Note/\(name)".b)
        #expect(!file.isDirectory && file.usage.bytes >= 4)
        if let meant {
            #expect(file.guess?.contains(meant) == true, "\(file.guess ?? "-")")
        } else {
            #expect(file.guess == nil)
        }
    }

    @Test("files of each directory of the mount are told by their paths, and not what is in them")
    func places() throws {
        let fixture = try TreeFixture()
        let directory = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: "d".b, mode: 0o755)
        for (parent, name) in [
            ("private", ".p"), ("private/Box", ".z"), ("private/Box/Note/d", "n.json"),
        ] {
            let node = try #require(try fixture.find(parent)).node
            _ = try fixture.tree.makeNode(
                parent: node, name: name.b, mode: 0o100644, caller: TreeFixture.user)
        }
        _ = try fixture.tree.makeDirectory(parent: .root, name: ".Trash-7".b, mode: 0o700)
        let files = try ScratchFile.all(in: fixture.store)
        #expect(
            files.map { String(decoding: $0.path, as: UTF8.self) } == [
                ".Trash-7", "private/.p", "private/Box/.z", "private/Box/Note/d",
            ])
        #expect(files.map(\.isDirectory) == [true, false, false, true])
        #expect(files.last?.guess?.contains("DATABASE/ZONE/TYPE/NAME.json") == true)
        #expect(directory.attributes.mode & 0o170000 == 0o040000)
    }
}
