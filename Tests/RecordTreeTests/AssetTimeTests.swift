import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// The time of an asset is set and kept as that of a file on a disk: rsync and tar rely on it.
@Suite("Times of assets")
struct AssetTimeTests {
    private static let name = "n@photo.jpg"
    private static let past = Timestamp(seconds: 1_000_000)
    private let fixture: TreeFixture

    init() throws {
        fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("one", as: Self.name)
        fixture.clock.advance(.seconds(10))
    }

    private func setTime(
        _ time: Timestamp = AssetTimeTests.past, of name: String = AssetTimeTests.name,
        handle: HandleNumber? = nil
    ) throws {
        let node = try #require(try fixture.lookup(name)).node
        var changes = NodeChanges()
        changes.modified = .at(time)
        let shown = try fixture.tree.setAttributes(of: node, changes, handle: handle).0
        #expect(shown.modified == time)
    }

    /// What the file shows, and what the store will show after a remount.
    private func expect(_ time: Timestamp, _ location: SourceLocation = #_sourceLocation) throws {
        let shown = try fixture.lookup(Self.name)?.attributes.modified
        #expect(shown == time, sourceLocation: location)
        let record = try #require(try fixture.record("n"))
        let stored = try fixture.store.assets.assets(of: record.id).first?.modified
        #expect(stored == time, sourceLocation: location)
    }

    @Test("a time that was set holds until the file is written, also with the same bytes")
    func setByName() throws {
        try setTime()
        try expect(Self.past)
        let text = try #require(try fixture.text("n.json"))
        try fixture.put(text.replacing("\"a\": 1", with: "\"a\": 2"), as: "n.json")
        try expect(Self.past)
        try fixture.put("one", as: Self.name)
        try expect(fixture.clock.now)
        try setTime()
        try fixture.put("two", as: Self.name)
        try expect(fixture.clock.now)
    }

    @Test("a time that is set while the file is being written holds after the close")
    func setByDescriptor() throws {
        let handle = try fixture.openNew(Self.name, flags: O_WRONLY | O_TRUNC)
        try fixture.write("two", to: handle)
        try setTime(handle: handle)
        try fixture.tree.flush(handle)
        fixture.clock.advance(.seconds(10))
        fixture.tree.release(handle)
        try expect(Self.past)
    }

    @Test("a time that is set after the close holds although the kernel has not let go of the file")
    func setAfterClose() throws {
        let handle = try fixture.openNew(Self.name, flags: O_WRONLY | O_TRUNC)
        try fixture.write("two", to: handle)
        try fixture.tree.flush(handle)
        try setTime()
        fixture.tree.release(handle)
        try expect(Self.past)
    }

    @Test("what is written after a time was set has the time of the write")
    func writtenAfter() throws {
        let handle = try fixture.openNew(Self.name, flags: O_WRONLY | O_TRUNC)
        try fixture.write("two", to: handle)
        try setTime(handle: handle)
        fixture.clock.advance(.seconds(10))
        try fixture.write("three", to: handle)
        let written = fixture.clock.now
        fixture.clock.advance(.seconds(10))
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        try expect(written)
    }

    @Test("a file that is renamed onto an asset brings its time", arguments: ["new bytes", "one"])
    func renamedOver(text: String) throws {
        try fixture.put(text, as: "tmp1")
        try setTime(of: "tmp1")
        try fixture.rename("tmp1", to: Self.name)
        #expect(try fixture.text(Self.name) == text)
        try expect(Self.past)
    }

    @Test("a file written after a rename with the same bytes is saved, though the old one is open")
    func renamedOverOpen() throws {
        let old = try fixture.openNew(Self.name, flags: O_WRONLY)
        try fixture.put("one", as: "tmp1")
        try fixture.rename("tmp1", to: Self.name)
        try fixture.put("two", as: Self.name)
        fixture.tree.release(old)
        #expect(try fixture.text(Self.name) == "two")
        #expect(try fixture.text("n.json")?.contains("\"size\": 3") == true)
        #expect(try fixture.store.upkeep.integrityCheck(deep: true).isEmpty)
    }
}
