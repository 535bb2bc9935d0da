import Glibc
import RecordModel
import RecordStore
import RecordTree
import Testing

@Suite("Cleaning by the mount")
struct CleaningTests {
    @Test("trash older than 30 days goes at the first maintenance of the hour after it")
    func trash() throws {
        let fixture = try TreeFixture()
        try fixture.put("{}", as: "a.json")
        try fixture.remove("a.json")
        _ = try fixture.tree.maintain()
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
        let type = try #require(try fixture.store.types(in: try zone(fixture)).first?.id)
        #expect(try fixture.store.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(30 * 24 * 3600 - 60))
        _ = try fixture.tree.maintain()
        #expect(try fixture.store.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(120))
        _ = try fixture.tree.maintain()
        #expect(try fixture.store.trash(in: type).count == 1)
        fixture.clock.advance(.seconds(3600))
        _ = try fixture.tree.maintain()
        #expect(try fixture.store.trash(in: type).isEmpty)
    }

    @Test("a scratch file goes after 7 days without use; an open or a used one stays")
    func scratch() throws {
        let fixture = try TreeFixture()
        // The times of scratch files are the host's.
        let host = SystemClock().now.nanoseconds
        fixture.clock.advance(.nanoseconds(host - fixture.clock.now.nanoseconds))
        try fixture.put("old", as: ".old.swp")
        let open = try fixture.openNew(".open.swp")
        fixture.clock.advance(.seconds(7 * 24 * 3600 - 60))
        _ = try fixture.tree.maintain()
        #expect(try fixture.names().filter { $0.hasSuffix("swp") } == [".old.swp", ".open.swp"])
        fixture.clock.advance(.seconds(3720))
        _ = try fixture.tree.maintain()
        #expect(try fixture.names().filter { $0.hasSuffix("swp") } == [".open.swp"])
        #expect(
            fixture.notices.take().contains(
                .entry(parent: fixture.notes, name: Array(".old.swp".utf8))))
        fixture.tree.release(open)
        fixture.clock.advance(.seconds(3600))
        _ = try fixture.tree.maintain()
        #expect(try fixture.names().filter { $0.hasSuffix("swp") } == [])
    }

    @Test("an old directory with a file in use stays with it, and an empty one goes")
    func directories() throws {
        let fixture = try TreeFixture()
        let host = SystemClock().now.nanoseconds
        fixture.clock.advance(.nanoseconds(host - fixture.clock.now.nanoseconds))
        let used = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: Array(".used".utf8), mode: 0o755)
        _ = try fixture.tree.makeDirectory(
            parent: fixture.notes, name: Array(".empty".utf8), mode: 0o755)
        let (_, opened) = try fixture.tree.create(
            parent: used.node, name: Array("file".utf8), mode: 0o644, flags: O_WRONLY,
            caller: TreeFixture.user)
        fixture.clock.advance(.seconds(8 * 24 * 3600))
        _ = try fixture.tree.maintain()
        #expect(try fixture.names(in: used.node) == ["file"])
        #expect(try fixture.names().filter { $0.hasPrefix(".") }.contains(".used"))
        #expect(try !fixture.names().contains(".empty"))
        fixture.tree.release(opened.handle)
    }

    private func zone(_ fixture: TreeFixture) throws -> ZoneID {
        try #require(try fixture.store.zones(in: .private).first).id
    }
}
