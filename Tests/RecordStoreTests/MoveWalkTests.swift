import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random moves of records between two types and two zones, among edits here and at the server, whose
/// answers get lost: no record is lost or doubled, and every edit is in its record, wherever it is.
@Suite struct MoveWalkTests {
    @Test(
        "records that move about keep what they are and every edit of them",
        arguments: LongForm.seeds(20, of: 400))
    func walk(_ seed: Int) throws {
        let walk = try MoveWalk(seed: UInt64(seed))
        for _ in 1...60 where walk.differences.isEmpty { try walk.next() }
        if walk.differences.isEmpty { try walk.settle() }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }
}

private final class MoveWalk {
    private typealias Values = MoveServer.Values
    private let fixture: StoreFixture
    private var random: SeededRandom
    private var server = MoveServer()
    private let zones: [ZoneID]
    private let types: [TypeID]
    private let stems = (0..<4).map { Stem("r\($0)") }
    /// The expected values of each record at the end, by its `id`.
    private var alive: [String: Values] = [:]
    private var flights: [OutboxClaim] = []
    private var lastID = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        let (zone, note, task) = try fixture.write { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Crate")).id
            return (
                zone, try transaction.makeType(zone, RecordTypeName("Note")).id,
                try transaction.makeType(zone, RecordTypeName("Task")).id
            )
        }
        zones = [fixture.zone.id, zone]
        types = [fixture.note, fixture.task, note, task]
        for stem in stems { _ = try save(fixture.note, stem) }
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let (type, stem) = (random.pick(types), random.pick(stems))
        let untold = try fixture.untold(types) { steps.append(try step(type, stem)) }
        differences += untold
        try expectOnce()
        try fixture.expectSound()
    }

    private func step(_ type: TypeID, _ stem: Stem) throws -> String {
        switch random.below(12) {
        case 0, 1: return try save(type, stem)
        case 2, 3, 4: return try move(type, stem)
        case 5:
            guard random.below(3) == 0, let entry = try shown(type, stem) else { return "nothing" }
            let id = try values(entry.id).id
            try fixture.beginDelete(entry.id)
            // An edit of others may bring it back.
            alive[id] = nil
            return "remove \(id)"
        case 6: return try finalize()
        case 7: return editThere()
        case 8: return try fetch(random.pick(zones))
        case 9: return try claim(random.pick(zones))
        default: return try answer(mayFail: true)
        }
    }

    // MARK: Here

    private func shown(_ type: TypeID, _ stem: Stem) throws -> RecordEntry? {
        let entry = try fixture.store.record(type, stem)
        return entry?.state == .saved ? entry : nil
    }

    private func values(_ record: RecordID) throws -> Values {
        let entry = try #require(try fixture.store.record(record))
        let type = try #require(try fixture.store.type(entry.type)).name
        return Values(
            try RecordDocument(
                parsing: try fixture.store.savedText(of: record) ?? [],
                schema: try fixture.store.schema(of: type)))
    }

    private func save(_ type: TypeID, _ stem: Stem) throws -> String {
        lastID += 1
        var new = Values(id: "i\(lastID)")
        if let entry = try shown(type, stem) {
            new = try values(entry.id)
            new.mine += 1
        } else if try fixture.store.record(type, stem) != nil {
            // A save would be an edit of the record that waits for its deletion.
            return "nothing"
        }
        do throws(RecordError) {
            try fixture.save("\(stem)", new.text, type: type)
        } catch {
            guard error.code == .alreadyExists else { throw error }
            return "no name is free"
        }
        // A record that an edit of others has brought back goes its own way.
        if new.mine == 0 { alive[new.id] = new } else { alive[new.id]?.mine = new.mine }
        return "save \(new.text) as \(type)/\(stem)"
    }

    private func move(_ type: TypeID, _ stem: Stem) throws -> String {
        let (target, other) = (random.pick(types), random.pick(stems))
        guard let entry = try shown(type, stem), (target, other) != (type, stem),
            try fixture.store.record(target, other) == nil
        else { return "nothing" }
        let id = try values(entry.id).id
        do throws(RecordError) {
            _ = try fixture.write { transaction throws(RecordError) in
                target == type
                    ? try transaction.records.rename(entry.id, toType: type, stem: other)
                    : try transaction.moves.moveRecord(entry.id, to: target, stem: other)
            }
        } catch {
            guard error.code == .alreadyExists else { throw error }
            return "no name is free"
        }
        return "move \(id) from \(type)/\(stem) to \(target)/\(other)"
    }

    private func finalize() throws -> String {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        return "finalize"
    }

    // MARK: There

    private func editThere() -> String {
        let places = server.records.keys.sorted { "\($0)" < "\($1)" }
        guard !places.isEmpty else { return "nothing" }
        let place = random.pick(places)
        guard let id = server.records[place]?.values.id else { return "nothing" }
        let theirs = 100 + steps.count
        server.edit(place, theirs: theirs, at: fixture.clock.now)
        // Of a record that was removed here nobody can tell whether it comes back.
        alive[id]?.theirs = theirs
        return "edit \(id) there"
    }

    private func fetch(_ zone: ZoneID) throws -> String {
        let places = server.news.keys.filter { $0.zone == zone }.sorted { "\($0)" < "\($1)" }
        let changes = places.map { server.report($0) }
        try fixture.apply(fixture.page(changes, token: "t", in: zone))
        return "fetch \(places.map(\.name)) of \(zone)"
    }

    // MARK: Exchange

    private func claim(_ zone: ZoneID) throws -> String {
        // An engine asks for the news of a zone before it sends.
        steps.append(try fetch(zone))
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: zone)
        }
        flights += claims
        return "claim \(claims.map { "\($0.row.operation) \($0.row.name)" }) of \(zone)"
    }

    private func answer(mayFail: Bool) throws -> String {
        var told: [String] = []
        for claim in flights {
            let fate = mayFail ? random.below(5) : 4
            if fate == 0 {
                try fixture.fail(claim)
                told.append("\(claim.row.name) not sent")
                continue
            }
            guard let tag = server.take(claim) else {
                try fixture.fail(claim)
                let place = MoveServer.Place(zone: claim.row.zone, name: claim.row.name)
                let report = server.report(place)
                try fixture.apply(fixture.page([report], in: claim.row.zone))
                told.append("\(claim.row.name) in conflict")
                continue
            }
            if fate == 1 { try fixture.fail(claim) } else { try fixture.complete(claim, tag: tag) }
            told.append("\(claim.row.name) \(fate == 1 ? "lost" : "done")")
        }
        flights = []
        return "answer \(told)"
    }

    // MARK: Comparison

    /// All records that show, by their `id`.
    private func found() throws -> [String: [Values]] {
        var found: [String: [Values]] = [:]
        for type in types {
            for entry in try fixture.store.records(in: type, limit: 100) {
                let values = try values(entry.id)
                found[values.id, default: []].append(values)
            }
        }
        return found
    }

    private func expectOnce() throws {
        let found = try found()
        for (id, values) in found where values.count > 1 {
            differences.append("\(id) is there \(values.count) times")
        }
        for id in alive.keys.sorted() where found[id] == nil {
            differences.append("\(id) is lost")
        }
        for (id, values) in found where alive[id] != nil && values[0].mine != alive[id]?.mine {
            differences.append("\(id) has \(values[0].text), an edit here is lost")
        }
    }

    /// Sends and fetches until nothing is left.
    func settle() throws {
        steps.append(try finalize())
        for _ in 0..<8 {
            for zone in zones {
                steps.append(try answer(mayFail: false))
                steps.append(try claim(zone))
            }
            steps.append(try answer(mayFail: false))
            for zone in zones { steps.append(try fetch(zone)) }
        }
        try expectOnce()
        let left = try fixture.pending()
        if !left.isEmpty { differences.append("\(left) is left") }
        if try fixture.store.past.hasMoves() { differences.append("a move is left") }
        let here = try found().mapValues { $0[0] }
        let there = Dictionary(
            server.records.values.map { ($0.values.id, [$0.values]) }, uniquingKeysWith: +)
        for (id, values) in there where values.count > 1 {
            differences.append("the server has \(id) \(values.count) times")
        }
        if here != there.mapValues({ $0[0] }) {
            differences.append("here is \(here), there \(there)")
        }
        for (id, right) in alive where here[id] != right {
            differences.append("\(id) has \(here[id]?.text ?? "-") and not \(right.text)")
        }
        try fixture.expectSound()
    }
}
