import Glibc
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A large field's file that a program has open while names change (MountContract, "Other bytes under
/// a name" and "Renaming and moving a record"). `OpenFileModelTests` found each.
@Suite("Open files of large fields whose names change")
struct OpenFieldNameTests {
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        fixture.observe()
        for name in ["a", "b"] { try fixture.put("{}", as: "\(name).json") }
    }

    private func outlastGrace() throws {
        fixture.clock.advance(.seconds(4))
        try fixture.maintain()
    }

    private func open(_ name: String) throws -> (node: NodeNumber, handle: HandleNumber) {
        let node = try #require(try fixture.lookup(name)).node
        return (node, try fixture.tree.open(node, flags: O_RDWR, caller: TreeFixture.user).handle)
    }

    private func size(_ node: NodeNumber) throws -> Int64 {
        try fixture.tree.attributes(of: node, handle: nil).0.size
    }

    enum Loss: CaseIterable, Sendable { case removed, replaced, removedWithRecord }

    private func lose(_ name: String, by loss: Loss) throws {
        switch loss {
        case .removed: try fixture.remove(name)
        case .replaced:
            try fixture.put("other", as: "s")
            try fixture.rename("s", to: name)
        case .removedWithRecord:
            try fixture.remove("a.json")
            try outlastGrace()
        }
    }

    @Test("ftruncate and futimens change a file that has lost its name", arguments: Loss.allCases)
    func truncated(loss: Loss) throws {
        try fixture.put("photo", as: "a@photo.jpg")
        let (node, handle) = try open("a@photo.jpg")
        defer { fixture.tree.release(handle) }
        try lose("a@photo.jpg", by: loss)
        var changes = NodeChanges()
        changes.size = 2
        changes.modified = .at(Timestamp(seconds: 7))
        let shown = try fixture.tree.setAttributes(of: node, changes, handle: handle).0
        #expect(shown.size == 2 && shown.modified == Timestamp(seconds: 7))
        #expect(try fixture.read(handle) == "ph")
        // futimens sends no handle.
        changes = NodeChanges()
        changes.modified = .at(Timestamp(seconds: 8))
        if loss != .removedWithRecord {
            let later = try fixture.tree.setAttributes(of: node, changes, handle: nil).0
            #expect(later.modified == Timestamp(seconds: 8))
        }
        // Its mode is as fixed as that of any other field.
        changes = NodeChanges()
        changes.mode = 0o400
        #expect(
            try code { _ = try fixture.tree.setAttributes(of: node, changes, handle: handle) }
                == .notPermitted)
        #expect(try fixture.text("a@photo.jpg") == (loss == .replaced ? "other" : nil))
    }

    @Test("a file that other bytes have replaced keeps its size, also where these were the same")
    func replacedBySame() throws {
        try fixture.put("one", as: "a@photo.jpg")
        let (node, handle) = try open("a@photo.jpg")
        defer { fixture.tree.release(handle) }
        try fixture.write("two", to: handle, at: 3)
        try fixture.put("one", as: "s")
        try fixture.rename("s", to: "a@photo.jpg")
        #expect(try size(node) == 6)
        try fixture.put("", as: "a@photo.jpg")
        #expect(try size(node) == 6 && fixture.read(handle) == "onetwo")
        #expect(try fixture.lookup("a@photo.jpg")?.attributes.size == 0)
    }

    @Test("a file that was renamed to another record's field follows that record")
    func renamedTwice() throws {
        try fixture.put("photo", as: "a@photo.jpg")
        let (_, handle) = try open("a@photo.jpg")
        try fixture.rename("a@photo.jpg", to: "b@photo.jpg")
        try fixture.write("PH", to: handle)
        try fixture.rename("b.json", to: "c.json")
        try outlastGrace()
        try fixture.write("O", to: handle, at: 2)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try fixture.text("c@photo.jpg") == "PHOto")
        #expect(try fixture.names() == ["a.json", "c.json", "c@photo.jpg"])
    }

    @Test(
        "a writer goes on in its file when both fields are exchanged, and when both records are",
        arguments: [("a@photo.jpg", "b@photo.jpg", "same"), ("a.json", "b.json", "other")])
    func exchanged(one: String, two: String, theirs: String) throws {
        try fixture.put("same", as: "a@photo.jpg")
        try fixture.put(theirs, as: "b@photo.jpg")
        let (mine, other) = (try open("a@photo.jpg"), try open("b@photo.jpg"))
        try fixture.write("S", to: mine.handle)
        try fixture.rename(one, to: two, flags: 2)
        try fixture.write("A", to: mine.handle, at: 1)
        for handle in [mine.handle, other.handle] {
            try fixture.tree.flush(handle)
            fixture.tree.release(handle)
        }
        try outlastGrace()
        #expect(try fixture.text("b@photo.jpg") == "SAme")
        #expect(try fixture.text("a@photo.jpg") == theirs)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }
}
