import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// A record with what hangs on it goes to another zone.
@Suite struct TreeMoveTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func move(
        _ stem: String = "root", to zone: String = "Own", under parent: String? = nil
    ) throws(RecordError) -> TreeMovePlan {
        guard let root = try fixture.record(stem) else {
            throw RecordError(.notFound, "the test has no such record.")
        }
        let move = TreeMove(
            of: root.id, to: .private, .me, ZoneName(zone), under: parent.map { RecordName($0) })
        let before = try fixture.store.syncState.counts()
        let preview = try fixture.store.past.plan(of: move)
        #expect(
            try fixture.store.syncState.counts().zones == before.zones, "a preview changes nothing")
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.moves.move(move)
        }
        #expect(preview.steps.map(\.stem) == plan.steps.map(\.stem), "the preview is what is done")
        return plan
    }

    /// TYPE/NAME of all records of a zone, with their texts.
    private func tree(_ zone: String) throws -> [String: String] {
        guard let zone = try fixture.store.zone(.private, .me, ZoneName(zone)) else { return [:] }
        var found: [String: String] = [:]
        for type in try fixture.store.types(in: zone.id) {
            try fixture.store.withRecords(in: type.id) { entry, text in
                found["\(type.name)/\(entry.stem)"] = String(decoding: text, as: UTF8.self)
            }
        }
        return found
    }

    private func fill() throws {
        try fixture.save("root", #"{"n":1}"#)
        try fixture.save("twig", #"{"$parent":"root","to":{"$ref":"root"}}"#, type: fixture.task)
        try fixture.save("leaf", #"{"\u0024parent":"twig","to":{"$ref":"root","zone":"Box"}}"#)
        try fixture.save("other", #"{"n":2}"#)
    }

    @Test("all that hangs on it goes with it, and what names the zone names the new one")
    func whole() throws {
        try fill()
        let plan = try move()
        #expect(plan.steps.map(\.path) == ["Note/root", "Task/twig", "Note/leaf"])
        #expect(
            try tree("Own") == [
                "Note/root": #"{"n":1}"#,
                "Task/twig": #"{"$parent":"root","to":{"$ref":"root"}}"#,
                "Note/leaf": #"{"\u0024parent":"twig","to":{"$ref":"root","zone":"Own"}}"#,
            ])
        #expect(try tree("Box") == ["Note/other": #"{"n":2}"#])
        try fixture.expectSound()
    }

    @Test("a record is hung below another one, and never below what hangs on it")
    func hang() throws {
        try fill()
        func hang(_ stem: String, under parent: String) -> RecordError.Code? {
            failure {
                let id = try #require(try fixture.record(stem)).id
                try fixture.write { transaction throws(RecordError) in
                    try transaction.moves.hang(id, under: RecordName(parent))
                }
            }?.code
        }
        func line(_ name: String) throws -> [String] {
            try fixture.store.past.line(from: RecordName(name), in: fixture.zone)
                .map(\.description)
        }
        func isAlone(_ stem: String) throws -> Bool {
            let id = try #require(try fixture.record(stem)).id
            return try fixture.write { transaction throws(RecordError) in
                try transaction.moves.isAlone(id)
            }
        }
        #expect(try line("leaf") == ["leaf", "twig", "root"] && line("none") == ["none"])
        #expect(try isAlone("other") && !isAlone("root") && !isAlone("leaf"))
        #expect(hang("root", under: "leaf") == .invalidArgument)
        #expect(hang("root", under: "root") == .invalidArgument)
        #expect(hang("other", under: "leaf") == nil)
        #expect(try line("other") == ["other", "leaf", "twig", "root"] && !isAlone("other"))
        #expect(try fixture.text("other") == #"{"n":2,"$parent":"leaf"}"#)
        let count = try fixture.kinds("other").count
        #expect(hang("other", under: "leaf") == nil)
        #expect(try fixture.kinds("other").count == count, "it hangs there already")
        _ = try fixture.draft("draft", "{ half")
        #expect(hang("draft", under: "root") == .notFound)
    }

    @Test("what the server has is deleted there when it has the copy, and not before")
    func order() throws {
        try fill()
        try fixture.sendAll()
        _ = try move()
        #expect(try fixture.store.past.hasMoves())
        #expect(try fixture.claim().isEmpty, "nothing is deleted while the copies are here alone")
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own"))).id
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: own)
        }
        #expect(claims.map(\.row.name.description) == ["root", "twig", "leaf"])
        #expect(try fixture.claim().isEmpty, "nor while they are on their way")
        try fixture.complete(claims[0], tag: "t2")
        try fixture.fail(claims[1], error: "QUOTA_EXCEEDED")
        try fixture.complete(claims[2], tag: "t2")
        #expect(try fixture.claim().isEmpty, "what was refused stays where it is, with the rest")
        try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox()
        }
        let again = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: own)
        }
        for claim in again { try fixture.complete(claim, tag: "t3") }
        #expect(try fixture.claim().map(\.row.name.description) == ["leaf", "twig", "root"])
    }

    @Test("of what goes together nothing is deleted before all of it is on the server")
    func together() throws {
        try fill()
        try fixture.sendAll()
        _ = try move()
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own"))).id
        func claimCopies(_ limit: Int) throws -> [OutboxClaim] {
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.claimOutbox(in: own, limits: ClaimLimits(records: limit))
            }
        }
        for claim in try claimCopies(2) { try fixture.complete(claim, tag: "t2") }
        #expect(try fixture.claim().isEmpty, "the leaf is here alone")
        for claim in try claimCopies(2) { try fixture.complete(claim, tag: "t2") }
        #expect(try fixture.claim().map(\.row.name.description) == ["leaf", "twig", "root"])
    }

    @Test("what goes on before it was sent is waited for where it is then")
    func movedOn() throws {
        try fixture.save("root", #"{"n":1}"#)
        try fixture.sendAll()
        _ = try move()
        func zone(_ name: String) throws -> ZoneID {
            try #require(try fixture.store.zone(.private, .me, ZoneName(name))).id
        }
        let first = try #require(
            try fixture.store.record(named: RecordName("root"), in: try zone("Own")))
        _ = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.moves.move(TreeMove(of: first.id, to: .private, .me, ZoneName("Third")))
        }
        #expect(try fixture.claim().isEmpty)
        let second = try #require(
            try fixture.store.record(named: RecordName("root"), in: try zone("Third")))
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.records.rename(second.id, toType: second.type, stem: Stem("other"))
            try transaction.records.finalizeDelete(second.id)
        }
        #expect(try fixture.claim().isEmpty, "also under another name")
        let third = try zone("Third")
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: third)
        }
        #expect(claims.map(\.row.name.description) == ["other"])
        for claim in claims { try fixture.complete(claim, tag: "t2") }
        #expect(try fixture.claim().map(\.row.name.description) == ["root"])
    }

    @Test("who deletes what he has moved has deleted it")
    func deletedAfter() throws {
        try fixture.save("root", #"{"n":1}"#)
        try fixture.sendAll()
        _ = try move()
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own"))).id
        let copy = try #require(try fixture.store.record(named: RecordName("root"), in: own))
        try fixture.delete(copy.id)
        #expect(try fixture.claim().map(\.row.name.description) == ["root"])
    }

    @Test("a copy that does not get to the server is given up, and what was moved is back")
    func takenBack() throws {
        try fill()
        try fixture.sendAll()
        let root = try #require(try fixture.record("root")).id
        let shared = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.makeZone(.shared, OwnerName("anna@h"), ZoneName("Hers"))
        }
        for isRevert in [false, true] {
            let current = try #require(try fixture.record("root")).id
            #expect(isRevert || current == root)
            _ = try fixture.write(.commandLine) { transaction throws(RecordError) in
                try transaction.moves.move(
                    TreeMove(of: current, to: .shared, OwnerName("anna@h"), ZoneName("Hers")))
            }
            #expect(try tree("Box") == ["Note/other": #"{"n":2}"#])
            let claims = try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.claimOutbox(in: shared.id)
            }
            for claim in claims { try fixture.fail(claim, error: "ACCESS_DENIED") }
            #expect(try fixture.claim().isEmpty)
            if isRevert {
                for claim in claims.reversed() {
                    try fixture.write(.sync) { transaction throws(RecordError) in
                        _ = try transaction.merging.revert(claim.row)
                    }
                }
            } else {
                try fixture.write(.sync) { transaction throws(RecordError) in
                    try transaction.feed.removeZoneOfServer(shared.id)
                    _ = try transaction.makeZone(.shared, OwnerName("anna@h"), ZoneName("Hers"))
                }
            }
            #expect(try tree("Box").count == 4, "\(isRevert)")
            #expect(
                try fixture.outbox().filter { $0.operation == .delete }.isEmpty
                    && !fixture.store.past.hasMoves())
            for claim in try fixture.claim() {
                #expect(claim.base?.changeTag == "t1")
                try fixture.complete(claim, tag: "t1")
            }
            try fixture.expectSound()
        }
    }

    @Test("what was edited since, here and elsewhere, is in what is back")
    func takenBackWithEdits() throws {
        try fixture.save("root", #"{"a":1,"b":1,"to":{"$ref":"root","zone":"Box"}}"#)
        try fixture.sendAll()
        let root = try #require(try fixture.record("root")).id
        let shared = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.makeZone(.shared, OwnerName("anna@h"), ZoneName("Hers"))
        }
        let plan = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.moves.move(
                TreeMove(of: root, to: .shared, OwnerName("anna@h"), ZoneName("Hers")))
        }
        let copy = try #require(try plan.copies.first.flatMap(fixture.store.record(_:)))
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.records.save(
                text: Array(#"{"a":1,"b":2,"to":{"$ref":"root","zone":"Hers"}}"#.utf8),
                type: copy.type, stem: copy.stem)
        }
        let target = FieldValue.reference(
            Reference(name: RecordName("root"), zone: ZoneName("Box")))
        try fixture.upsert(
            "root", ["a": .int64(2), "b": .int64(1), "to": target], tag: "t2")
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.removeZoneOfServer(shared.id)
        }
        #expect(
            try tree("Box") == [
                "Note/root": #"{"a":2,"b":2,"to":{"$ref":"root","zone":"Box"}}"#
            ])
        let claim = try #require(try fixture.claim().first)
        #expect(claim.base?.changeTag == "t2")
        #expect(claim.changedFields == [FieldName("b")])
        try fixture.expectSound()
    }

    @Test("the order outlives the process, and ends with the deletion")
    func reopened() throws {
        try fill()
        try fixture.sendAll()
        _ = try move()
        try fixture.reopen()
        #expect(try fixture.claim().isEmpty)
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own"))).id
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: own)
        }
        for claim in claims { try fixture.complete(claim, tag: "t2") }
        try fixture.sendAll()
        #expect(try !fixture.store.past.hasMoves())
        #expect(try fixture.outbox().isEmpty)
    }

    @Test("what nobody has sent yet leaves nothing to delete")
    func neverSent() throws {
        try fill()
        _ = try move()
        #expect(
            try fixture.pending().sorted() == [
                "leaf create", "other create", "root create", "twig create",
            ])
        #expect(try !fixture.store.past.hasMoves())
    }

    @Test("it can go back, and large fields and pins go with it")
    func thereAndBack() throws {
        try fill()
        let (hash, size) = try fixture.importBytes("soup")
        let root = try #require(try fixture.record("root")).id
        try fixture.write { transaction throws(RecordError) in
            _ = try transaction.assets.setAsset(
                root, FieldName("photo"), nil, hash, size: size, fileExtension: Array("jpg".utf8))
            _ = try transaction.assets.pin(.record(root), in: self.fixture.zone.id)
        }
        try fixture.sendAll()
        let plan = try move()
        #expect(plan.bytes > 4)
        let own = try #require(try fixture.store.zone(.private, .me, ZoneName("Own"))).id
        let moved = try #require(try fixture.store.record(named: RecordName("root"), in: own))
        #expect(try fixture.store.assets.assets(of: moved.id).map(\.hash) == [hash])
        #expect(try fixture.store.assets.pins().count == 1)
        _ = try fixture.write(.commandLine) { transaction throws(RecordError) in
            try transaction.moves.move(
                TreeMove(of: moved.id, to: .private, .me, ZoneName("Box")))
        }
        #expect(try tree("Own").isEmpty)
        #expect(try tree("Box").count == 4)
        #expect(
            try Set(fixture.pending()) == ["root update", "twig update", "leaf update"],
            "the server has them still")
        try fixture.expectSound()
    }

    @Test("what would tear references apart, or end a link, is refused with its reason")
    func refused() throws {
        try fill()
        func expectRefusal(_ words: String, _ stem: String = "root") throws {
            let before = try tree("Box")
            #expect(
                failure { try move(stem) }?.message.contains(words) == true, "\(words)")
            #expect(try tree("Box") == before && tree("Own").isEmpty)
        }
        try expectRefusal("is a child of Task/twig, which stays", "leaf")
        try fixture.save("other", #"{"list":[{"$ref":"leaf"}]}"#)
        try expectRefusal("Note/other, which stays, names Note/leaf in list")
        try fixture.save("other", #"{"n":2}"#)
        try fixture.save("root", #"{"to":{"$ref":"other"}}"#)
        try expectRefusal("Note/root names Note/other in to, which is no child of it")
        try fixture.save("root", #"{"to":{"$ref":"nobody"}}"#)
        _ = try fixture.draft("leaf", "{")
        try expectRefusal("Note/leaf has a draft")
        try fixture.save("leaf", #"{"$parent":"twig"}"#)
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.sharing.noteShare(
                Share(
                    name: RecordName("share-twig"), root: RecordName("twig"),
                    permission: .readWrite, text: Array("{}".utf8)), of: fixture.zone.id)
        }
        try expectRefusal("Task/twig is shared already")
    }

    @Test("names that are taken there, and a place that is this one, are refused")
    func taken() throws {
        try fill()
        #expect(failure { try move(to: "Box") }?.message.contains("already") == true)
        let type = try fixture.write { transaction throws(RecordError) in
            let own = try transaction.makeZone(.private, .me, ZoneName("Own"))
            return try transaction.makeType(own.id, RecordTypeName("Other")).id
        }
        try fixture.save("leaf", #"{"x":1}"#, type: type)
        #expect(failure { try move() }?.code == .alreadyExists)
        #expect(failure { try move(under: "nobody") }?.code == .alreadyExists)
        try fixture.delete(try #require(try fixture.record("leaf", type: type)).id)
        #expect(failure { try move(under: "nobody") }?.code == .notFound)
        #expect(try tree("Box").count == 4)
        _ = try move()
        #expect(try tree("Own").count == 3)
    }

    @Test("under a record of the new zone the root hangs on that")
    func underParent() throws {
        try fill()
        let type = try fixture.write { transaction throws(RecordError) in
            let own = try transaction.makeZone(.private, .me, ZoneName("Own"))
            return try transaction.makeType(own.id, RecordTypeName("Note")).id
        }
        try fixture.save("shelf", #"{"x":1}"#, type: type)
        _ = try move(under: "shelf")
        #expect(try tree("Own")["Note/root"] == #"{"n":1,"$parent":"shelf"}"#)
    }

    @Test("a ring of records is refused where it would close")
    func ring() throws {
        try fixture.save("twig", "{}")
        try fixture.save("root", #"{"$parent":"twig"}"#)
        let refusal = failure { try fixture.save("twig", #"{"$parent":"root"}"#) }
        #expect(refusal?.message.contains("leads back") == true)
        #expect(failure { try move() }?.message.contains("is a child of Note/twig") == true)
    }
}
