import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Edits of a record that somebody has renamed or moved meanwhile: all of them end in one record, at
/// its present place, whichever side moved it.
@Suite struct MovedElsewhereTests {
    private let fixture: StoreFixture
    private let own: ZoneInfo
    private let ownNote: TypeID

    /// The server has `a` with `n` and `m` in Box. The zone Own has the type Note too.
    init() throws {
        let fixture = try StoreFixture()
        self.fixture = fixture
        (own, ownNote) = try fixture.write { transaction throws(RecordError) in
            let own = try transaction.makeZone(.private, .me, ZoneName("Own"))
            return (own, try transaction.makeType(own.id, RecordTypeName("Note")).id)
        }
        try tell("a", n: 1, m: 1, tag: "r1")
    }

    /// - Parameter seconds: when `m` was edited elsewhere, from now.
    @discardableResult
    private func tell(
        _ name: String, n: Int64, m: Int64, tag: String, in zone: ZoneID? = nil,
        after seconds: Int? = nil
    ) throws -> RemoteResult.Outcome? {
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(
                [("n", n), ("m", m)].map {
                    RecordField(name: FieldName($0.0), value: .int64($0.1))
                }, parent: nil), changeTag: tag, modifiedBy: "_other")
        if let seconds {
            change.stamps = [
                FieldName("m"): FieldStamp(
                    time: FieldStamp(at: fixture.clock.now + .seconds(seconds)).time, device: 7)
            ]
        }
        return try fixture.apply(fixture.page([change], in: zone)).first
    }

    private func deleteThere(_ name: String, movedTo target: String) throws -> RemoteResult.Outcome?
    {
        let address = RecordAddress(
            zone: own.name, type: RecordTypeName("Note"), name: RecordName(target))
        let change = RemoteChange(deleted: RecordName(name), movedTo: address)
        return try fixture.apply(fixture.page([change])).first
    }

    private func text(_ n: Int, _ m: Int) -> String { "{\"n\":\(n),\"m\":\(m)}" }

    /// The two numbers of a record.
    private func values(_ name: String, _ type: TypeID? = nil) throws -> [Int64]? {
        guard let text = try fixture.text(name, type: type) else { return nil }
        let value = try JSONParser.parse(Array(text.utf8))
        return [value["n"]?.int64 ?? 0, value["m"]?.int64 ?? 0]
    }

    enum Move: CaseIterable { case rename, zone, type }

    /// Moves `a` here, and says where it is: the type and the zone.
    private func moveHere(_ move: Move) throws -> (type: TypeID, zone: ZoneID) {
        let id = try #require(try fixture.record("a")).id
        let type =
            switch move {
            case .rename: fixture.note
            case .zone: ownNote
            case .type: fixture.task
            }
        _ = try fixture.write { transaction throws(RecordError) in
            if move == .rename {
                try transaction.records.rename(id, toType: type, stem: Stem("b"))
            } else {
                try transaction.moves.moveRecord(id, to: type, stem: Stem("b"))
            }
        }
        return (type, move == .zone ? own.id : fixture.zone.id)
    }

    @Test(
        "an edit of others at the old place comes into the record that was moved here",
        arguments: Move.allCases, [false, true])
    func movedHere(_ move: Move, _ isWaitingOver: Bool) throws {
        let place = try moveHere(move)
        if isWaitingOver {
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        }
        try fixture.save("b", text(5, 1), type: place.type)
        #expect(try tell("a", n: 1, m: 2, tag: "r2", after: 1) == .updated)
        #expect(try values("b", place.type) == [5, 2])
        #expect(try fixture.record("a")?.state != .saved)
        #expect(try fixture.conflicts() == [])
        // The old name is deleted in the state that the server has now, when the copy is there.
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        for claim in try claim(place.zone) where !claim.isDelete {
            #expect(claim.document.map { $0[FieldName("m")] } == .int64(2))
            try fixture.complete(claim, tag: "c1")
        }
        let last = try claim(fixture.zone.id)
        #expect(last.map { "\($0.row.name) \($0.row.operation)" } == ["a delete"])
        #expect(last.first?.base?.changeTag == "r2")
        #expect(last.first?.movedTo?.name == RecordName("b"))
        try fixture.expectSound()
    }

    private func claim(_ zone: ZoneID) throws -> [OutboxClaim] {
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: zone)
        }
    }

    @Test(
        "of a field that both sides changed the later edit stands, and the other is a conflict",
        arguments: [(-60, Int64(9)), (60, 2)])
    func bothChanged(_ seconds: Int, _ winner: Int64) throws {
        let place = try moveHere(.zone)
        try fixture.save("b", text(1, 9), type: place.type)
        try tell("a", n: 7, m: 2, tag: "r2", after: seconds)
        #expect(try values("b", place.type) == [7, winner])
        let conflicts = try fixture.store.syncState.conflicts(in: own.id)
        #expect(conflicts.map(\.fields) == [[FieldName("m")]])
        #expect(conflicts.map(\.theirsStood) == [seconds > 0 ? [FieldName("m")] : []])
    }

    @Test("another record that has the old name by now has nothing of that edit")
    func nameTaken() throws {
        let place = try moveHere(.rename)
        try fixture.save("a", text(70, 70))
        #expect(try tell("a", n: 1, m: 2, tag: "r2", after: 1) == .updated)
        #expect(try values("a") == [70, 70] && values("b", place.type) == [1, 2])
        // The deletion of the old one leaves the next one, which is then a new record.
        #expect(try fixture.apply(fixture.page([StoreFixture.gone("a")])) == [.kept])
        #expect(try values("a") == [70, 70])
        #expect(try fixture.pending().sorted() == ["a create", "b create"])
        try fixture.expectSound()
    }

    @Test(
        "an edit here follows a record that was moved elsewhere, whichever feed comes first",
        arguments: [false, true], [false, true])
    func movedThere(_ isTargetFirst: Bool, _ hasDraft: Bool) throws {
        try fixture.save("a", text(5, 1))
        if hasDraft { _ = try fixture.draft("a", "{ half") }
        let id = try #require(try fixture.record("a")).id
        try fixture.write { transaction throws(RecordError) in
            try transaction.assets.pin(.record(id), in: self.fixture.zone.id)
        }
        if isTargetFirst { try tell("b", n: 1, m: 7, tag: "x1", in: own.id) }
        #expect(try deleteThere("a", movedTo: "b") == .deleted)
        #expect(try fixture.names() == [])
        if !isTargetFirst {
            #expect(try fixture.store.acknowledged(RecordName("b"), in: own.id)?.changeTag == "0")
            try tell("b", n: 1, m: 7, tag: "x1", in: own.id)
        }
        let target = try #require(try fixture.record("b", type: ownNote))
        #expect(target.hasDraft == hasDraft)
        if hasDraft { #expect(try fixture.text("b", type: ownNote) == "{ half") }
        let saved = try JSONParser.parse(Array(try fixture.savedText(target.id)?.utf8 ?? "".utf8))
        #expect(saved["n"]?.int64 == 5 && saved["m"]?.int64 == 7)
        #expect(try fixture.store.assets.pins().map(\.stem) == [Stem("b")])
        #expect(try fixture.pending() == ["b update"])
        try fixture.expectSound()
    }

    @Test("without an edit here a move elsewhere is a deletion at the old place")
    func noEdit() throws {
        try tell("b", n: 1, m: 1, tag: "x1", in: own.id)
        _ = fixture.changes()
        #expect(try deleteThere("a", movedTo: "b") == .deleted)
        let target = try #require(try fixture.record("b", type: ownNote)).id
        let deleted = fixture.changes().filter { $0.kind == .deleted }
        #expect(deleted.map(\.movedTo) == [target])
        #expect(try fixture.pending() == [] && fixture.trashed() == ["a"])
    }

    @Test("an edit does not follow to a name that a record of another type has there: it stays")
    func otherType() throws {
        try fixture.save("a", text(5, 1))
        try fixture.apply(
            fixture.page([StoreFixture.told("b", n: 3, type: "Task")], in: own.id))
        #expect(try deleteThere("a", movedTo: "b") == .kept)
        #expect(try values("a") == [5, 1])
        #expect(try fixture.pending() == ["a create"])
    }

    @Test("a record of another type that only this machine has makes room at the new place")
    func makesRoom() throws {
        let task = try fixture.write { transaction throws(RecordError) in
            try transaction.makeType(own.id, RecordTypeName("Task")).id
        }
        let mine = try fixture.save("b", text(8, 8), type: task).id
        try fixture.save("a", text(5, 1))
        #expect(try deleteThere("a", movedTo: "b") == .deleted)
        #expect(try values("b", ownNote) == [5, 1] && values("b", task) == [8, 8])
        #expect(try fixture.store.meta(of: mine)?.name == RecordName("b:Task"))
        try fixture.expectSound()
    }

    @Test("a record that was moved here, and back by others, is one record at its old place")
    func movedBack() throws {
        let place = try moveHere(.zone)
        for claim in try claim(own.id) { try fixture.complete(claim, tag: "x1") }
        try fixture.save("b", text(1, 3), type: place.type)
        // The server knows the copy; others take it to the name where it was.
        let back = RecordAddress(
            zone: fixture.zone.name, type: RecordTypeName("Note"), name: RecordName("a"))
        let change = RemoteChange(deleted: RecordName("b"), movedTo: back)
        #expect(try fixture.apply(fixture.page([change], in: own.id)) == [.deleted])
        #expect(try fixture.names(ownNote) == [] && fixture.names() == ["a"])
        #expect(try values("a") == [1, 3])
        #expect(try fixture.outbox().allSatisfy { $0.operation != .delete })
        #expect(try fixture.store.past.hasMoves() == false)
        try fixture.expectSound()
    }
}
