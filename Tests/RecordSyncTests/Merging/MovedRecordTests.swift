import RecordModel
import RecordStore
import RecordStoreSync
import RecordSync
import RecordWire
import ServerTestSupport
import Simulation
import TestSupport
import Testing

/// A record that one machine renames, or moves to another type or zone, while others edit it.
@Suite("A record that is moved while others edit it") struct MovedRecordTests {
    /// A way in which r.json of Main/Note gets elsewhere.
    enum Way: CaseIterable, Sendable {
        case name, type, zone, all

        /// ZONE/TYPE/STEM, where it is then.
        var place: String {
            switch self {
            case .name: "Main/Note/s"
            case .type: "Main/Task/r"
            case .zone: "Side/Note/r"
            case .all: "Side/Task/s"
            }
        }
    }

    static let allOrders = [
        [0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0],
    ]
    static let old = "Main/Note/r"

    private let server: TestServer
    private let machines: [Replica]
    private var a: Replica { machines[0] }
    private var b: Replica { machines[1] }
    private var c: Replica { machines[2] }

    init() async throws {
        server = try await TestServer()
        machines = try (0..<3).map { [server] _ in try Replica(server) }
        try Self.save(#"{"f":"0","g":"0","h":"0"}"#, on: machines[0])
        for place in ["Main/Task/stays", "Side/Note/stays", "Side/Task/stays2"] {
            try Self.save("{}", at: place, on: machines[0])
        }
        for machine in machines + machines { try await machine.sync() }
    }

    // MARK: What somebody does

    private static func type(_ place: String, _ transaction: Transaction) throws(RecordError)
        -> TypeID
    {
        let parts = place.split(separator: "/")
        let zone = try transaction.makeZone(.private, .me, ZoneName(parts[0]))
        return try transaction.makeType(zone.id, RecordTypeName(parts[1])).id
    }

    private static func stem(_ place: String) -> Stem { Stem(place.split(separator: "/")[2]) }

    private static func save(
        _ text: String, at place: String = MovedRecordTests.old, on machine: Replica
    ) throws {
        try machine.store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.records.save(
                text: Array(text.utf8), type: try Self.type(place, transaction),
                stem: Self.stem(place))
        }
    }

    /// `mv`: the old name waits for its deletion where the record is renamed in its type.
    private func move(_ way: Way, on machine: Replica, isFinal: Bool = true) throws {
        try machine.store.write(author: .mount) { transaction throws(RecordError) in
            let from = try Self.type(Self.old, transaction)
            let to = try Self.type(way.place, transaction)
            guard let record = try transaction.records.record(from, Self.stem(Self.old)) else {
                return
            }
            if from == to {
                _ = try transaction.records.rename(
                    record.id, toType: to, stem: Self.stem(way.place))
            } else {
                _ = try transaction.moves.moveRecord(record.id, to: to, stem: Self.stem(way.place))
            }
        }
        if isFinal { try finish(machine) }
    }

    private func finish(_ machine: Replica) throws {
        _ = try machine.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
    }

    // MARK: What is to be seen

    private func tree(_ machine: Replica) throws -> [String: String] {
        var tree: [String: String] = [:]
        for zone in try machine.store.zones(in: .private) {
            for type in try machine.store.types(in: zone.id) {
                for entry in try machine.store.records(in: type.id, limit: 100)
                where entry.state == .saved {
                    let text = try machine.store.savedText(of: entry.id) ?? []
                    tree["\(zone.name)/\(type.name)/\(entry.stem)"] = String(
                        decoding: text, as: UTF8.self)
                }
            }
        }
        return tree
    }

    private func expect(
        _ text: String?, _ way: Way, conflicts: Int = 0, _ what: String = "",
        also others: [String: String] = [:], location: SourceLocation = #_sourceLocation
    ) async throws {
        try await expect(
            text, at: way.place, conflicts: conflicts, what, also: others, location: location)
    }

    private func expect(
        _ text: String?, at place: String, conflicts: Int = 0, _ what: String = "",
        also others: [String: String] = [:], location: SourceLocation = #_sourceLocation
    ) async throws {
        for machine in machines + machines { try await machine.sync() }
        let fresh = try Replica(server)
        try await fresh.sync()
        var expected = ["Main/Task/stays": "{}", "Side/Note/stays": "{}", "Side/Task/stays2": "{}"]
        expected[place] = text
        expected.merge(others) { $1 }
        for (number, machine) in (machines + [fresh]).enumerated() {
            let found = try tree(machine)
            #expect(
                found == expected, "machine \(number), \(what): \(found)",
                sourceLocation: location)
            #expect(try machine.outbox() == [], "\(what)", sourceLocation: location)
            #expect(try machine.problems() == [], sourceLocation: location)
        }
        let all = try machines.flatMap { machine in
            try ["Main", "Side"].flatMap { try machine.conflicts(zone: $0) }
        }
        #expect(all.count == conflicts, "\(what)", sourceLocation: location)
    }

    @Test(
        "is one record, in its new place, with the edits of both, in every order of three machines",
        arguments: Way.allCases, MovedRecordTests.allOrders)
    func orders(way: Way, order: [Int]) async throws {
        try move(way, on: a)
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try Self.save(#"{"f":"0","g":"c","h":"0"}"#, on: c)
        for number in order { try await machines[number].sync() }
        try await expect(#"{"f":"b","g":"c","h":"0"}"#, way, "\(order)")
    }

    @Test(
        "is that also when it was edited before and after it was moved",
        arguments: Way.allCases, MovedRecordTests.allOrders)
    func editedToo(way: Way, order: [Int]) async throws {
        try Self.save(#"{"f":"a","g":"0","h":"0"}"#, on: a)
        try move(way, on: a)
        try Self.save(#"{"f":"a","g":"0","h":"a"}"#, at: way.place, on: a)
        try Self.save(#"{"f":"0","g":"b","h":"0"}"#, on: b)
        for number in order { try await machines[number].sync() }
        try await expect(#"{"f":"a","g":"b","h":"a"}"#, way, "\(order)")
    }

    @Test(
        "is that when its old name has another record before the edit is sent",
        arguments: Way.allCases, [[0, 1, 2], [0, 2, 1]])
    func remade(way: Way, order: [Int]) async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try Self.save(#"{"f":"0","g":"c","h":"0"}"#, on: c)
        try move(way, on: a)
        try await a.sync()
        try Self.save(#"{"f":"new"}"#, on: a)
        for number in order { try await machines[number].sync() }
        try await expect(
            #"{"f":"b","g":"c","h":"0"}"#, way, "\(order)", also: [Self.old: #"{"f":"new"}"#])
    }

    @Test("leaves its name to others, twice, and edits go to that which they are of")
    func remadeTwice() async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try move(.zone, on: a)
        try await a.sync()
        try Self.save(#"{"f":"1","g":"1"}"#, on: a)
        try await a.sync()
        try await c.sync()
        try Self.save(#"{"f":"1","g":"c"}"#, on: c)
        try move(.type, on: a)
        try await a.sync()
        try Self.save(#"{"f":"2"}"#, on: a)
        for machine in machines { try await machine.sync() }
        try await expect(
            #"{"f":"b","g":"0","h":"0"}"#, .zone,
            also: [Way.type.place: #"{"f":"1","g":"c"}"#, Self.old: #"{"f":"2"}"#])
    }

    @Test("leaves edits of the next record of its name alone, also where that is made")
    func nextOne() async throws {
        try move(.zone, on: a)
        try Self.save(#"{"f":"1"}"#, on: a)
        try Self.save("{}", at: "Main/Task/other", on: b)
        try await b.sync()
        // Its place in the feed stays before all that, for there is something of others in it.
        for name in ["Side", "Main"] {
            let zone = try #require(
                try a.store.zones(in: .private).first { $0.name == ZoneName(name) })
            try await a.exchange.upload(try #require(try a.store.syncState.syncedZone(zone.id)))
        }
        try Self.save(#"{"f":"1","g":"a"}"#, on: a)
        try await expect(
            #"{"f":"0","g":"0","h":"0"}"#, .zone,
            also: [Self.old: #"{"f":"1","g":"a"}"#, "Main/Task/other": "{}"])
    }

    @Test("takes no record along that has its name elsewhere and was never sent")
    func neverSent() async throws {
        try Self.save(#"{"own":"c"}"#, at: "Main/Note/n", on: c)
        try Self.save(#"{"f":"a"}"#, at: "Main/Task/n", on: a)
        try await a.sync()
        try a.store.write(author: .mount) { transaction throws(RecordError) in
            let type = try Self.type("Main/Task/n", transaction)
            guard let record = try transaction.records.record(type, Stem("n")) else { return }
            _ = try transaction.moves.moveRecord(
                record.id, to: try Self.type("Side/Task/n", transaction), stem: Stem("n"))
        }
        try finish(a)
        try await a.sync()
        try await expect(
            #"{"f":"0","g":"0","h":"0"}"#, at: Self.old,
            also: ["Side/Task/n": #"{"f":"a"}"#, "Main/Note/n": #"{"own":"c"}"#])
    }

    /// Simulation seed 803042, wide.
    @Test(
        "changes places with another one, and an edit of the first is not lost",
        arguments: Way.allCases, [true, false])
    func placesChanged(way: Way, isEdited: Bool) async throws {
        try Self.save(#"{"own":"other"}"#, at: way.place, on: a)
        for machine in machines { try await machine.sync() }
        if isEdited { try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b) }
        let between = "Side/Task/between"
        for (from, to) in [(Self.old, between), (way.place, Self.old), (between, way.place)] {
            try a.store.write(author: .mount) { transaction throws(RecordError) in
                let (type, target) = (
                    try Self.type(from, transaction), try Self.type(to, transaction)
                )
                guard let record = try transaction.records.record(type, Self.stem(from)) else {
                    return
                }
                if type == target {
                    _ = try transaction.records.rename(
                        record.id, toType: target, stem: Self.stem(to))
                } else {
                    _ = try transaction.moves.moveRecord(record.id, to: target, stem: Self.stem(to))
                }
            }
            try finish(a)
        }
        for machine in machines { try await machine.sync() }
        #expect(try a.outbox() == [])
        // The server cannot have both moves at once: an edit meets what has the name first.
        try await expect(
            #"{"f":"0","g":"0","h":"0"}"#, way, conflicts: isEdited ? 1 : 0,
            also: [Self.old: isEdited ? #"{"f":"b","own":"other"}"# : #"{"own":"other"}"#])
    }

    /// Simulation seed 600094, wide.
    @Test(
        "takes an edit along to where a record of another type, which was never sent, has its name",
        arguments: [true, false])
    func meetsAnotherType(isRemoved: Bool) async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try Self.save(#"{"own":"b"}"#, at: "Side/Task/r", on: b)
        try move(.zone, on: a)
        try await a.sync()
        if isRemoved {
            try b.store.write(author: .mount) { transaction throws(RecordError) in
                let type = try Self.type("Side/Task/r", transaction)
                guard let record = try transaction.records.record(type, Stem("r")) else { return }
                try transaction.records.beginDelete(record.id)
            }
        }
        // Whichever zone is asked for first.
        for name in ["Main", "Side"] {
            let zone = try #require(
                try b.store.zones(in: .private).first { $0.name == ZoneName(name) })
            try await b.exchange.download(try #require(try b.store.syncState.syncedZone(zone.id)))
        }
        try finish(b)
        try await expect(
            #"{"f":"b","g":"0","h":"0"}"#, .zone,
            also: isRemoved ? [:] : ["Side/Task/r": #"{"own":"b"}"#])
    }

    @Test("has the later value where an edit brings it back under a longer name")
    func laterValue() async throws {
        try Self.save(#"{"f":"c","g":"0","h":"0"}"#, on: c)
        server.clock.advance(.seconds(5))
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try a.store.write(author: .mount) { transaction throws(RecordError) in
            let type = try Self.type(Self.old, transaction)
            guard let record = try transaction.records.record(type, Self.stem(Self.old)) else {
                return
            }
            try transaction.records.beginDelete(record.id)
        }
        try finish(a)
        try await a.sync()
        try Self.save(#"{"x":"a"}"#, at: "Main/Task/r", on: a)
        try await a.sync()
        for machine in [b, c, b, c, a] { try await machine.sync() }
        for machine in machines {
            #expect(try tree(machine)[Self.old] == #"{"f":"b","g":"0","h":"0"}"#)
            #expect(try tree(machine)["Main/Task/r"] == #"{"x":"a"}"#)
        }
    }

    @Test(
        "is that when the edit arrives between the copy and the deletion", arguments: Way.allCases)
    func between(way: Way) async throws {
        try move(way, on: a, isFinal: false)
        a.wire.plan(
            .recordsModify,
            .meanwhile { [b] in try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b) })
        try await a.sync()
        try await b.sync()
        try finish(a)
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, way)
    }

    @Test("is that when the edit arrives while the old name waits", arguments: [Way.name])
    func waiting(way: Way) async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try await b.sync()
        try move(way, on: a, isFinal: false)
        try await a.sync()
        #expect(try tree(a)[Self.old] == nil)
        #expect(try tree(a)[way.place] == #"{"f":"b","g":"0","h":"0"}"#)
        try finish(a)
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, way)
    }

    @Test(
        "is that when the edit finds the record gone while it is being sent",
        arguments: Way.allCases)
    func sentLate(way: Way) async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try move(way, on: a)
        b.wire.plan(.recordsModify, .meanwhile { [a] in try await a.sync() })
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, way)
    }

    @Test(
        "has the later value of a field that both have changed, and both are told of the conflict",
        arguments: Way.allCases)
    func sameField(way: Way) async throws {
        try Self.save(#"{"f":"a","g":"0","h":"0"}"#, on: a)
        try move(way, on: a)
        server.clock.advance(.seconds(5))
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try await a.sync()
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, way, conflicts: 2)
    }

    @Test("takes the refused text of its file along", arguments: Way.allCases)
    func draft(way: Way) async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try b.store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.records.saveDraft(
                text: Array("{ half".utf8), type: try Self.type(Self.old, transaction),
                stem: Self.stem(Self.old), error: RecordError(.invalidJSON, "expected a value"))
        }
        try move(way, on: a)
        for machine in [a, b] { try await machine.sync() }
        let drafts = try b.store.refusals().map(\.stem)
        #expect(drafts == [Self.stem(way.place)])
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, way)
    }

    @Test("goes on from place to place with an edit that did not know of any")
    func chain() async throws {
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try move(.name, on: a)
        try await a.sync()
        try a.store.write(author: .mount) { transaction throws(RecordError) in
            let type = try Self.type(Way.name.place, transaction)
            guard let record = try transaction.records.record(type, Stem("s")) else { return }
            _ = try transaction.moves.moveRecord(
                record.id, to: try Self.type(Way.all.place, transaction), stem: Stem("s"))
        }
        try finish(a)
        try await a.sync()
        try await expect(#"{"f":"b","g":"0","h":"0"}"#, .all)
    }

    @Test(
        "is that when its old name has another record before the server is told of anything",
        arguments: Way.allCases, MovedRecordTests.allOrders)
    func remadeAtOnce(way: Way, order: [Int]) async throws {
        try move(way, on: a)
        try Self.save(#"{"f":"new"}"#, on: a)
        try Self.save(#"{"f":"b","g":"0","h":"0"}"#, on: b)
        try Self.save(#"{"f":"0","g":"c","h":"0"}"#, on: c)
        for number in order { try await machines[number].sync() }
        try await expect(
            #"{"f":"b","g":"c","h":"0"}"#, way, "\(order)", also: [Self.old: #"{"f":"new"}"#])
    }

    @Test("comes back as it is, when one moves it onto another, and somebody that one onto it")
    func crossing() async throws {
        try Self.save(#"{"p":"other","n":2}"#, at: Way.zone.place, on: a)
        try await a.sync()
        // B does not know of the other one, and is offline before it has sent its move.
        try move(.zone, on: b)
        b.wire.plan(.recordsModify, .refused(ServerError(.tryAgainLater, "not now", retryAfter: 1)))
        await #expect(throws: SyncProblem.self) { try await b.exchange.round() }
        try a.store.write(author: .mount) { transaction throws(RecordError) in
            let type = try Self.type(Way.zone.place, transaction)
            guard let record = try transaction.records.record(type, Stem("r")) else { return }
            _ = try transaction.moves.moveRecord(
                record.id, to: try Self.type(Self.old, transaction), stem: Stem("r"))
        }
        try finish(a)
        for machine in [a, b, a, b] { try await machine.sync() }
        let fresh = try Replica(server)
        try await fresh.sync()
        let trees = try (machines.prefix(2) + [fresh]).map { try tree($0) }
        #expect(trees[0] == trees[2])
        #expect(trees[1] == trees[2])
        // Nothing of it is still to be told.
        let tags = try [a, b].map { machine in
            try machine.entry("r", "Main").flatMap { try machine.store.meta(of: $0.id)?.changeTag }
        }
        #expect(tags[0] == tags[1])
    }

    /// Simulation seed 400997.
    @Test(
        "what comes back where it was meets the record that has its name by now, and nothing is lost",
        arguments: [true, false], [true, false])
    func comesBack(isForward: Bool, isEdited: Bool) async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        let (old, new) = isForward ? ("Box", "Cup") : ("Cup", "Box")
        try a.save("x", #"{"r":1}"#, zone: old)
        try a.save("y", "{}", zone: new)
        try await a.sync()
        try await b.sync()
        try b.save("x", #"{"p":8}"#, zone: new)
        try a.move("x", from: old, to: new)
        try await b.exchange.round()
        try b.move("x", from: new, to: old)
        try await a.exchange.round()
        try a.save("x", #"{"p":8,"r":26}"#, zone: new)
        server.clock.advance(.seconds(1))
        try a.save("x", #"{"r":27}"#, zone: old)
        for replica in [a, b] { try await replica.exchange.round() }
        if isEdited, try a.text("x", zone: new) != nil {
            try a.save("x", #"{"p":8,"q":9,"r":26}"#, zone: new)
        }
        for replica in [a, b, a, b] { try await replica.sync() }
        let whole = isEdited ? #"{"p":8,"q":9,"r":27}"# : #"{"p":8,"r":27}"#
        for replica in [a, b] {
            #expect(try replica.tree(zone: old) == ["x": whole])
            #expect(try replica.tree(zone: new) == ["y": "{}"])
            #expect(try replica.outbox() == [])
        }
        let texts = try (a.conflicts(zone: old) + a.conflicts(zone: new)).flatMap { conflict in
            try [Conflict.Side.mine, .theirs].compactMap {
                try a.store.syncState.text(of: $0, in: conflict)
            }
        }
        #expect(texts.contains { String(decoding: $0, as: UTF8.self).contains(#""r":26"#) })
    }

    /// Simulation seed 696, wide.
    @Test("what was moved over another record keeps its values when an edit comes too late")
    func overAnother() async throws {
        let server = try await TestServer()
        let (a, b) = (try Replica(server), try Replica(server))
        try a.save("x", #"{"n":5}"#, zone: "Box")
        try b.save("x", #"{"n":8,"q":8}"#, zone: "Cup")
        for replica in [a, b, a, b] { try await replica.sync() }
        try b.move("x", from: "Box", to: "Cup")
        server.clock.advance(.seconds(1))
        try a.save("x", #"{"n":21,"r":21}"#, zone: "Box")
        try await a.exchange.round()
        server.clock.advance(.seconds(1))
        try a.save("x", #"{"n":32,"p":32,"r":21}"#, zone: "Box")
        a.wire.plan(.recordsModify, .meanwhile { try await b.exchange.round() })
        for replica in [a, b, a, b] { try await replica.sync() }
        for replica in [a, b] {
            #expect(try replica.tree(zone: "Cup") == ["x": #"{"n":32,"p":32,"r":21}"#])
            #expect(try replica.tree(zone: "Box") == [:])
            #expect(try replica.outbox() == [])
        }
    }
}
