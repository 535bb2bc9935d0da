import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// A program was told that there is no such name, and makes the file after a record has arrived from another
/// machine under this name.
@Suite("Records that have just arrived, and that a program replaces unseen")
struct ArrivalTests {
    enum Way: CaseIterable, Sendable {
        case inPlace, temporaryFile

        func save(_ text: String, _ fixture: TreeFixture) throws {
            let mover = Requester(threadID: 99)
            switch self {
            case .inPlace: try fixture.put(text, as: "n.json")
            case .temporaryFile:
                try fixture.put(text, as: ".n.tmp")
                _ = try fixture.lookup("n.json", as: mover)
                try fixture.rename(".n.tmp", to: "n.json", by: mover)
            }
        }
    }

    /// How a program comes to know the record.
    enum Sight: CaseIterable, Sendable {
        case reading, listing, otherLookup, time

        func see(_ fixture: TreeFixture) throws {
            let other = Requester(threadID: 50)
            switch self {
            case .reading: _ = try fixture.text("n.json", by: other)
            case .listing: _ = try fixture.names()
            case .otherLookup: _ = try fixture.lookup("n.json", as: other)
            case .time: fixture.clock.advance(.seconds(61))
            }
        }
    }

    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        fixture.observe()
        return fixture
    }

    private func receive(_ fixture: TreeFixture, name: String = "n") throws {
        let fields = [
            RecordField(name: FieldName("mine"), value: .int64(9)),
            RecordField(name: FieldName("theirs"), value: .int64(20)),
        ]
        try fixture.receive(.upsert(fields, parent: nil), name: name)
    }

    private func values(_ fixture: TreeFixture) throws -> [String: Int] {
        let text = try #require(try fixture.text("n.json", by: Requester(threadID: 51)))
        return try JSONDecoder().decode([String: Int].self, from: Data(text.utf8))
    }

    private func conflicts(_ fixture: TreeFixture) throws -> [[FieldName]] {
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
        return try fixture.store.syncState.conflicts(in: zone).map(\.fields)
    }

    @Test("both texts are merged, and of one field a conflict shows both", arguments: Way.allCases)
    func merged(way: Way) throws {
        let fixture = try fixture()
        #expect(try fixture.lookup("n.json") == nil)
        try receive(fixture)
        try way.save(#"{"mine":2}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
        #expect(try conflicts(fixture) == [[FieldName("mine")]])
    }

    @Test(
        "so is a record that was removed here before, by another program", arguments: Way.allCases)
    func removedBefore(way: Way) throws {
        let fixture = try fixture()
        try fixture.put(#"{"mine":1}"#, as: "n.json", by: Requester(threadID: 8))
        try fixture.send()
        try fixture.remove("n.json")
        fixture.clock.advance(.seconds(4))
        _ = try fixture.tree.maintain()
        try receive(fixture)
        try way.save(#"{"mine":2}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
        #expect(try conflicts(fixture).contains([FieldName("mine")]))
    }

    @Test(
        "a record that somebody has seen is replaced, as on any file system",
        arguments: Way.allCases,
        Sight.allCases)
    func seen(way: Way, sight: Sight) throws {
        let fixture = try fixture()
        try receive(fixture)
        try sight.see(fixture)
        try way.save(#"{"mine":2}"#, fixture)
        #expect(try values(fixture) == ["mine": 2])
        #expect(try conflicts(fixture).isEmpty)
    }

    @Test(
        "the second save of the program replaces only what the first has made",
        arguments: Way.allCases)
    func again(way: Way) throws {
        let fixture = try fixture()
        try receive(fixture)
        try way.save(#"{"mine":2}"#, fixture)
        try way.save(#"{"mine":3}"#, fixture)
        #expect(try values(fixture) == ["mine": 3, "theirs": 20])
        #expect(try conflicts(fixture).count == 1)
    }

    @Test("of very many arrivals the last are known")
    func bounds() throws {
        let fixture = try fixture()
        for number in 0..<3000 { try receive(fixture, name: "m\(number)") }
        try receive(fixture)
        try fixture.put(#"{"mine":2}"#, as: "m0.json")
        try fixture.put(#"{"mine":2}"#, as: "n.json")
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
        #expect(try fixture.text("m0.json") == #"{"mine":2}"#)
    }
}
