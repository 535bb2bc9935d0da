import Foundation
import RecordModel
import RecordStore
import RecordTree
import TestSupport
import Testing

/// Programs that read a record, close it, and write the whole text later, while another machine changes
/// the record in between.
@Suite("What programs have read of a record, when they save")
struct ReadingTests {
    /// A way in which a program saves a whole text, which it has made of what it has read before.
    enum Way: CaseIterable, Sendable {
        case inPlace, temporaryFile, setAside, exchange

        func save(_ text: String, _ fixture: TreeFixture, by thread: Int32 = 1) throws {
            let caller = Requester(threadID: thread)
            switch self {
            case .inPlace: try fixture.put(text, as: "n.json", by: caller)
            case .temporaryFile:
                try fixture.put(text, as: ".n.tmp", by: caller)
                // `mv` is another program in a script.
                try fixture.rename(".n.tmp", to: "n.json", by: Requester(threadID: 99))
            case .setAside:
                try fixture.rename("n.json", to: "n.json~", by: caller)
                try fixture.put(text, as: "n.json", by: caller)
            case .exchange:
                try fixture.put(text, as: ".n.tmp", by: caller)
                try fixture.rename(".n.tmp", to: "n.json", flags: 2, by: caller)
            }
        }
    }

    private func fixture() throws -> TreeFixture {
        let fixture = try TreeFixture()
        fixture.observe()
        try fixture.put(#"{"mine":1,"theirs":1}"#, as: "n.json", by: Requester(threadID: 5))
        try fixture.send()
        return fixture
    }

    private func receive(mine: Int64 = 1, theirs: Int64, _ fixture: TreeFixture) throws {
        let fields = [
            RecordField(name: FieldName("mine"), value: .int64(mine)),
            RecordField(name: FieldName("theirs"), value: .int64(theirs)),
        ]
        try fixture.receive(.upsert(fields, parent: nil), name: "n")
    }

    private func values(_ fixture: TreeFixture) throws -> [String: Int] {
        let text = try #require(try fixture.text("n.json", by: Requester(threadID: 50)))
        return try JSONDecoder().decode([String: Int].self, from: Data(text.utf8))
    }

    @Test(
        "a text that a program has made of what it read stays beside what came meanwhile",
        arguments: Way.allCases)
    func merged(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(theirs: 20, fixture)
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
        // Its own text is what it goes on with: it has not seen what was merged.
        try way.save(#"{"mine":3,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 3, "theirs": 20])
        try receive(mine: 3, theirs: 30, fixture)
        try way.save(#"{"mine":4,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 4, "theirs": 30])
    }

    @Test("who has read what came sets it back when it says so", arguments: Way.allCases)
    func setBack(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(theirs: 20, fixture)
        _ = try fixture.text("n.json")
        try way.save(#"{"mine":1,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 1, "theirs": 1])
    }

    @Test(
        "an editor that copies the new file as its backup has still begun with the old one",
        arguments: Way.allCases)
    func backup(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(theirs: 20, fixture)
        _ = try fixture.text("n.json")
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
    }

    @Test("a program that has not read the record replaces it", arguments: Way.allCases)
    func replaced(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(theirs: 20, fixture)
        try way.save(#"{"mine":2}"#, fixture, by: 7)
        #expect(try values(fixture) == ["mine": 2])
    }

    @Test(
        "what another program has saved here is replaced, as on any file system",
        arguments: Way.allCases)
    func otherProgram(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try Way.temporaryFile.save(#"{"mine":1,"theirs":20}"#, fixture, by: 7)
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 1])
    }

    @Test(
        "of one field that both have changed the program's value stays, and a conflict shows both",
        arguments: Way.allCases)
    func conflict(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(mine: 9, theirs: 1, fixture)
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 1])
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
        #expect(
            try fixture.store.syncState.conflicts(in: zone).map(\.fields) == [[FieldName("mine")]])
    }

    @Test(
        "a bad text is a draft; the good one after it is merged with what came before both",
        arguments: [Way.inPlace, .setAside])
    func draft(way: Way) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try receive(theirs: 20, fixture)
        #expect(throws: RecordError.self) { try way.save(#"{"mine":"#, fixture) }
        try way.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
    }

    @Test("a program that reads very many records is known for the last of them, others stay known")
    func bounds() throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        for number in 0..<100 {
            try fixture.put("{}", as: "m\(number).json", by: Requester(threadID: 7))
            _ = try fixture.text("m\(number).json", by: Requester(threadID: 7))
        }
        for program in 1000..<4000 {
            _ = try fixture.text("m1.json", by: Requester(threadID: Int32(program)))
            _ = try fixture.text("n.json")
        }
        try receive(theirs: 20, fixture)
        try Way.inPlace.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
    }

    @Test("a record that a program reads again and again stays known, whatever else it reads")
    func readAgain() throws {
        let fixture = try fixture()
        for number in 0..<100 {
            if number % 20 == 0 { _ = try fixture.text("n.json") }
            try fixture.put("{}", as: "m\(number).json", by: Requester(threadID: 7))
            _ = try fixture.text("m\(number).json")
        }
        try receive(theirs: 20, fixture)
        try Way.inPlace.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
    }

    /// What may become of a removal before the text is written back; all end as without one.
    enum Removal: CaseIterable, Sendable {
        case none, waiting, final, renamed

        func remove(_ fixture: TreeFixture) throws {
            if self == .none { return }
            if self == .renamed { return try fixture.rename("n.json", to: "n.bak") }
            try fixture.remove("n.json")
            guard self == .final else { return }
            fixture.clock.advance(.seconds(4))
            _ = try fixture.tree.maintain()
        }
    }

    private func conflicts(_ fixture: TreeFixture) throws -> [[FieldName]] {
        let zone = try #require(try fixture.store.zone(.private, .me, ZoneName("Box"))).id
        return try fixture.store.syncState.conflicts(in: zone).map(\.fields)
    }

    @Test(
        "a text that is written back after a removal stays beside what came meanwhile",
        arguments: Removal.allCases, [1, 2])
    func writtenBack(removal: Removal, mine: Int) throws {
        for way in [Way.inPlace, .temporaryFile] {
            let fixture = try fixture()
            _ = try fixture.text("n.json")
            try removal.remove(fixture)
            try receive(theirs: 20, fixture)
            try way.save("{\"mine\":\(mine),\"theirs\":1}", fixture)
            #expect(try values(fixture) == ["mine": mine, "theirs": 20])
            #expect(try conflicts(fixture).isEmpty, "nobody has deleted it, after all")
            try way.save(#"{"mine":3,"theirs":1}"#, fixture)
            #expect(try values(fixture) == ["mine": 3, "theirs": 20])
        }
    }

    @Test("of one field that both have changed a conflict shows both", arguments: Removal.allCases)
    func writtenBackConflict(removal: Removal) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try removal.remove(fixture)
        try receive(mine: 9, theirs: 1, fixture)
        try Way.inPlace.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 1])
        #expect(try conflicts(fixture) == [[FieldName("mine")]])
    }

    @Test("who removes a record, and sees what came, replaces that", arguments: Removal.allCases)
    func removedAndSeen(removal: Removal) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try removal.remove(fixture)
        try receive(theirs: 20, fixture)
        _ = try fixture.text("n.json")
        try Way.inPlace.save(#"{"mine":1,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 1, "theirs": 1])
    }

    @Test("what comes while the new file is being written stays too", arguments: Removal.allCases)
    func cameWhileWritten(removal: Removal) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try removal.remove(fixture)
        let handle = try fixture.openNew("n.json", flags: O_WRONLY | O_TRUNC)
        try receive(theirs: 20, fixture)
        try fixture.write(#"{"mine":2,"theirs":1}"#, to: handle)
        try fixture.tree.flush(handle)
        fixture.tree.release(handle)
        #expect(try values(fixture) == ["mine": 2, "theirs": 20])
        #expect(try conflicts(fixture).isEmpty)
    }

    @Test(
        "what was made here under a name that was removed is replaced, as on any file system",
        arguments: Removal.allCases)
    func madeHere(removal: Removal) throws {
        let fixture = try fixture()
        _ = try fixture.text("n.json")
        try removal.remove(fixture)
        try Way.inPlace.save(#"{"mine":1,"theirs":20}"#, fixture, by: 7)
        try Way.inPlace.save(#"{"mine":2,"theirs":1}"#, fixture)
        #expect(try values(fixture) == ["mine": 2, "theirs": 1])
        #expect(try conflicts(fixture).isEmpty)
    }
}
