import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Files whose records show under other names because another record came, or went.
@Suite("Files that get another name") struct ShownNamesTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
    }

    private func tell(_ name: String, _ value: Int64) throws {
        let fields = [RecordField(name: FieldName("n"), value: .int64(value))]
        try fixture.receive(.upsert(fields, parent: nil), name: name)
    }

    @Test("are told to the kernel by both names")
    func notices() throws {
        try tell("x:Note", 1)
        #expect(try fixture.names() == ["x.json"])
        _ = fixture.notices.take()
        try tell("x", 2)
        #expect(try fixture.names() == ["x.json", "x:Note.json"])
        let notices = fixture.notices.take()
        for name in ["x.json", "x:Note.json"] {
            #expect(notices.contains(.entry(parent: fixture.notes, name: name.b)), "\(name)")
        }
        #expect(notices.contains(.content(fixture.notes)))
        // The removal of one through the mount concerns the other, too.
        try fixture.remove("x.json")
        fixture.clock.advance(.seconds(10))
        try fixture.maintain()
        #expect(try fixture.names() == ["x.json"])
        let later = fixture.notices.take()
        #expect(later.contains(.entry(parent: fixture.notes, name: "x:Note.json".b)))
        #expect(try fixture.text("x.json")?.contains("1") == true)
    }

    @Test(
        "are not written over by what takes the name of a record that was renamed",
        arguments: [false, true])
    func renamedBeside(isSaved: Bool) throws {
        try tell("x", 1)
        try tell("x:Note", 2)
        try fixture.put(#"{"n":3}"#, as: "k.json")
        try fixture.rename("x.json", to: "u.json")
        if isSaved {
            try fixture.put(#"{"n":3}"#, as: "x.json")
            try fixture.remove("k.json")
        } else {
            try fixture.rename("k.json", to: "x.json")
        }
        for _ in 0..<2 {
            let texts = try ["u.json", "x.json", "x:Note.json"].map { try fixture.text($0) ?? "" }
            #expect(texts.map { $0.filter(\.isNumber) } == ["1", "3", "2"])
            #expect(try fixture.names() == ["u.json", "x.json", "x:Note.json"])
            fixture.clock.advance(.seconds(10))
            try fixture.maintain()
        }
    }

    @Test("are saved into their own records by those who have them open")
    func open() throws {
        try tell("x:Note", 1)
        let entry = try #require(try fixture.lookup("x.json"))
        let handle = try fixture.tree.open(
            entry.node, flags: O_RDWR, caller: TreeFixture.user
        ).handle
        try tell("x", 2)
        // Over all of the old text.
        try fixture.write(#"{"n":33}"# + String(repeating: " ", count: 20), to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("x:Note.json")?.contains("33") == true)
        #expect(try fixture.text("x.json")?.contains("33") == false)
    }

    @Test("cannot be made under a name that is only another way to write theirs")
    func refused() throws {
        try tell("r:Note", 1)
        let error = #expect(throws: RecordError.self) {
            try fixture.put(#"{"k":1}"#, as: "r:Note.json")
        }
        #expect(error?.code == .invalidName)
        #expect(try fixture.lookup("r:Note.json") == nil)
        #expect(try fixture.names() == [".error", "r.json"])
        #expect(try fixture.text(".error")?.contains("its file is r.json") == true)
        #expect(try fixture.text("r.json")?.contains("1") == true)
        try fixture.put(#"{"k":1}"#, as: "scratch")
        #expect(throws: RecordError.self) { try fixture.rename("scratch", to: "r:Note.json") }
        try fixture.put(#"{"k":1}"#, as: "other.json")
        #expect(throws: RecordError.self) { try fixture.rename("other.json", to: "r:Note.json") }
        #expect(try fixture.names() == [".error", "other.json", "r.json", "scratch"])
        #expect(
            throws: RecordError.self, "nor can a large field wait for it",
            performing: { try fixture.put("bytes", as: "r:Note@photo.jpg") })
    }

    @Test("keep their history under the names of their files")
    func history() throws {
        try tell("x:Note", 1)
        try tell("y", 1)
        try tell("z:Note", 1)
        try tell("z", 1)
        try fixture.receive(.delete, name: "z")
        let directory = try fixture.control("history/private/Box/Note")
        #expect(try fixture.list(directory).sorted() == ["x", "y", "z", "z@deleted"])
        for name in ["x", "y", "z", "z@deleted"] {
            let entry = try #require(try fixture.lookup(name, in: directory), "\(name)")
            #expect(try fixture.list(entry.node).isEmpty == false)
        }
    }

    @Test("are refused as drafts when another record has come before they are saved")
    func cameMeanwhile() throws {
        let handle = try fixture.openNew("r:Note.json")
        try fixture.write(#"{"k":1}"#, to: handle)
        try tell("r:Note", 1)
        #expect(throws: RecordError.self) { try fixture.tree.flush(handle) }
        fixture.tree.release(handle)
        #expect(try fixture.text("r:Note.json") == #"{"k":1}"#)
        #expect(try fixture.record("r:Note")?.state == .draftOnly)
        #expect(try fixture.text("r.json")?.contains("1") == true)
    }
}
