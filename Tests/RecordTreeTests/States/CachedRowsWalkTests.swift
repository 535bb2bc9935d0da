import Glibc
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordTree

/// The rows that a tree keeps in memory beside those of the store: each commit names the records
/// whose rows it changes.
@Suite("Kept rows beside the store")
struct CachedRowsWalkTests {
    private final class Walk {
        let fixture: TreeFixture
        var rows: CachedRows { fixture.tree.rooms.ground.rows }
        var random: SeededRandom
        let type: TypeID

        init(seed: UInt64) throws {
            let fixture = try TreeFixture()
            self.fixture = fixture
            fixture.observe()
            random = SeededRandom(seed: seed)
            let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box")))
            type = try #require(try fixture.store.type(zone.id, RecordTypeName("Note"))).id
        }

        private let names = ["a", "b", "c", "d"]

        func step() throws -> String {
            let name = random.pick(names)
            let file = name + ".json"
            let number = random.below(1000)
            switch random.below(14) {
            case 0, 1: try allow { try fixture.put("{\"n\":\(number)}", as: file) }
            case 2: try allow { try fixture.put("no record \(number)", as: file) }
            case 3: try allow { try fixture.remove(file) }
            case 4: try allow { try fixture.rename(file, to: random.pick(names) + ".json") }
            case 5: try replace(file, with: "{\"r\":\(number)}")
            case 6: try allow { try fixture.put("picture \(number)", as: "\(name)@photo.jpg") }
            case 7: try allow { try fixture.remove("\(name)@photo.jpg") }
            case 8: try setTime(of: random.below(3) == 0 ? "\(name)@photo.jpg" : file, number)
            case 9: try receive(name, number)
            case 10: try deleteElsewhere(name)
            case 11: try fixture.send()
            case 12:
                fixture.clock.advance(.seconds(random.below(5)))
                try fixture.maintain()
            default: try allow { try fixture.rename(file, to: "\(name)~") }
            }
            return "\(name) \(number)"
        }

        private func allow(_ body: () throws -> Void) throws {
            do { try body() } catch is RecordError {}
        }

        private func replace(_ file: String, with text: String) throws {
            try fixture.put(text, as: ".new")
            try allow { try fixture.rename(".new", to: file) }
        }

        private func setTime(of file: String, _ seconds: Int) throws {
            guard let entry = try fixture.lookup(file) else { return }
            var changes = NodeChanges()
            changes.modified = .at(Timestamp(seconds: Int64(seconds)))
            _ = try fixture.tree.setAttributes(of: entry.node, changes, handle: nil)
        }

        private func receive(_ name: String, _ number: Int) throws {
            let field = RecordField(name: FieldName("n"), value: .int64(Int64(number)))
            try allow { try fixture.receive(.upsert([field], parent: nil), name: name) }
        }

        private func deleteElsewhere(_ name: String) throws {
            try allow { try fixture.receive(.delete, name: name) }
        }
    }

    @Test("are forgotten by each commit that changes them", arguments: 1...12)
    func walk(seed: UInt64) throws {
        let walk = try Walk(seed: seed)
        let rows = walk.rows
        for number in 0..<80 {
            // A listing, which keeps all rows.
            _ = try rows.rows(in: walk.type, after: RecordID(0), limit: 100)
            let before = try walk.fixture.store.records(in: walk.type, limit: 100)
            let step = try walk.step()
            for entry in before {
                guard let kept = rows.entry(entry.id) else { continue }
                let row = try walk.fixture.store.record(entry.id)
                #expect(kept == row, "after step \(number), \(step)")
            }
        }
    }
}
