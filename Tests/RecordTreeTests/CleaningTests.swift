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

    private func zone(_ fixture: TreeFixture) throws -> ZoneID {
        try #require(try fixture.store.zones(in: .private).first).id
    }
}
