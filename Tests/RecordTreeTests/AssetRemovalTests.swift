import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

@Suite("Assets of a removed record")
struct AssetRemovalTests {
    @Test("they can be removed after it, as rm -r does, and come back with it from the trash")
    func removeAll() throws {
        let fixture = try TreeFixture()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        try fixture.remove("n.json")
        #expect(try fixture.names() == [])
        try fixture.remove("n@photo.jpg")
        #expect(try fixture.lookup("n@photo.jpg") == nil)
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
        #expect(try fixture.history.last?.kind == .deleted)
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
        let trashed = try #require(try fixture.store.past.trash(in: zone.id).first)
        _ = try fixture.store.write(author: .restore) { transaction throws(RecordError) in
            try transaction.records.restore(trashed.id)
        }
        #expect(try fixture.text("n@photo.jpg") == "one")
    }

    @Test("the kernel is told of their names when the delete becomes final")
    func notices() throws {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put("{\"a\": 1}", as: "n.json")
        try fixture.put("one", as: "n@photo.jpg")
        try fixture.remove("n.json")
        fixture.clock.advance(.seconds(4))
        _ = fixture.notices.take()
        _ = try fixture.tree.maintain()
        #expect(
            fixture.notices.take().contains(.entry(parent: fixture.notes, name: "n@photo.jpg".b)))
        #expect(try fixture.lookup("n@photo.jpg") == nil)
    }
}
