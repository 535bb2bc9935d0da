import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

@Suite("Conflicts")
struct ConflictTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func field(_ name: String) -> FieldName { FieldName(name) }

    /// A stamp of the other machine, so many seconds from now.
    private func stamp(after seconds: Int) -> FieldStamp {
        FieldStamp(
            time: FieldStamp(at: fixture.clock.now + .seconds(seconds)).time, device: 7)
    }

    /// The server tells of `a` with one field.
    @discardableResult
    private func tell(
        _ value: String, tag: String, stamped stamp: FieldStamp? = nil, unstamped: FieldStamp? = nil
    ) throws -> RemoteResult {
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName("a"),
            operation: .upsert(
                [RecordField(name: field("x"), value: .string(Text(value)))], parent: nil),
            changeTag: tag, modifiedBy: "_other")
        change.unstamped = unstamped
        if let stamp { change.stamps = [field("x"): stamp] }
        return try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(change, in: fixture.zone.id)
        }
    }

    private func conflicts() throws -> [Conflict] {
        try fixture.store.syncState.conflicts(in: fixture.zone.id, type: RecordTypeName("Note"))
    }

    private func texts(_ conflict: Conflict) throws -> [String?] {
        try Conflict.Side.allCases.map {
            try fixture.store.syncState.text(of: $0, in: conflict).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    // MARK: Which edit stands

    @Test("of two edits of a field the one with the later stamp stands", arguments: [-60, 60])
    func later(seconds: Int) throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        let result = try tell("theirs", tag: "2", stamped: stamp(after: seconds))
        #expect(result.conflicts == [field("x")])
        let isTheirs = seconds > 0
        let text = try #require(try fixture.text("a"))
        #expect(text == (isTheirs ? #"{"x":"theirs"}"# : #"{"x":"mine"}"#))
        // What lost here is not sent; what won is.
        #expect(try fixture.pending().isEmpty == isTheirs)
        let conflict = try #require(try conflicts().first)
        #expect(conflict.fields == [field("x")])
        #expect(conflict.theirsStood == (isTheirs ? [field("x")] : []))
        #expect(try texts(conflict)[1] == #"{"x":"mine"}"#)
        #expect(try texts(conflict)[2]?.contains("theirs") == true)
        #expect(conflict.theirUser == "_other" && !conflict.isSettled)
        try fixture.expectSound()
    }

    @Test("of a server without stamps its time of the record decides", arguments: [-60, 60])
    func serverTime(seconds: Int) throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        try tell("theirs", tag: "2", unstamped: stamp(after: seconds))
        let text = try #require(try fixture.text("a"))
        #expect(text.contains(seconds > 0 ? "theirs" : "mine"))
        #expect(try conflicts().first?.theirsStood.isEmpty == (seconds < 0))
    }

    @Test("a field that was never edited elsewhere is older than any edit")
    func neverEdited() throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        try tell("theirs", tag: "2")
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
        #expect(try conflicts().count == 1)
    }

    @Test("an edit of a field wins against its removal, here and there")
    func removal() throws {
        try tell("base", tag: "1")
        try fixture.save("a", "{}")
        try tell("theirs", tag: "2", stamped: stamp(after: -60))
        #expect(try fixture.text("a")?.contains("theirs") == true)
        #expect(try conflicts().first?.theirsStood == [field("x")])
        try fixture.save("a", #"{"x":"mine"}"#)
        try fixture.upsert("a", [:], tag: "3")
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
        #expect(try conflicts().first?.theirsStood == [])
    }

    @Test("the time of the field's own edit counts, not that of the record")
    func ownTime() throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        let between = stamp(after: 30)
        fixture.clock.advance(.seconds(60))
        try fixture.save("a", #"{"x":"mine","y":1}"#)
        try tell("theirs", tag: "2", stamped: between)
        #expect(try fixture.text("a") == #"{"x":"theirs","y":1}"#)
        #expect(try fixture.pending() == ["a update"])
    }

    @Test("a claim has the stamps of the fields that were changed, each of its own edit")
    func stampsOfClaim() throws {
        try fixture.save("a", #"{"x":1,"y":1,"z":1}"#)
        let create = try #require(try fixture.claim().first)
        #expect(create.stamps.isEmpty)
        try fixture.complete(create)
        fixture.clock.advance(.seconds(5))
        let first = fixture.clock.now
        try fixture.save("a", #"{"x":2,"y":1,"z":1}"#)
        fixture.clock.advance(.seconds(5))
        try fixture.save("a", #"{"x":2,"y":1}"#)
        let update = try #require(try fixture.claim().first)
        #expect(Set(update.stamps.keys) == [field("x"), field("z")])
        #expect(update.stamps[field("x")]?.milliseconds == first.milliseconds)
        #expect(update.stamps[field("z")]?.milliseconds == fixture.clock.now.milliseconds)
    }

    @Test("an edit of what came from a clock that is ahead has a later stamp, also after a restart")
    func ahead() throws {
        try fixture.save("a", #"{"x":"0"}"#)
        try fixture.sendAll(tag: "1")
        let ahead = stamp(after: 3_600)
        try tell("theirs", tag: "2", stamped: ahead)
        try fixture.reopen()
        try fixture.save("a", #"{"x":"mine"}"#)
        let claim = try #require(try fixture.claim().first)
        let own = try #require(claim.stamps[field("x")])
        #expect(own > ahead)
    }

    // MARK: No conflict

    @Test("texts of several lines that were changed at different places are merged")
    func lines() throws {
        try tell("one\ntwo\nthree\n", tag: "1")
        try fixture.save("a", #"{"x":"ONE\ntwo\nthree\n"}"#)
        let result = try tell("one\ntwo\nTHREE\n", tag: "2", stamped: stamp(after: 60))
        #expect(result.conflicts.isEmpty)
        #expect(try fixture.text("a") == #"{"x":"ONE\ntwo\nTHREE\n"}"#)
        #expect(try conflicts().isEmpty)
        #expect(try fixture.pending() == ["a update"])
    }

    @Test("what the server tells twice is one conflict")
    func twice() throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        for _ in 0..<2 { try tell("theirs", tag: "2", stamped: stamp(after: -60)) }
        #expect(try conflicts().count == 1)
    }

    @Test("who sets a field back to what it was, later than the edit here, wins")
    func setBack() throws {
        try tell("base", tag: "1", stamped: stamp(after: -60))
        try fixture.save("a", #"{"x":"mine"}"#)
        // It arrived, and the answer got lost.
        _ = try fixture.claim()
        let result = try tell("base", tag: "3", stamped: stamp(after: 60))
        #expect(result.conflicts == [field("x")])
        #expect(try fixture.text("a") == #"{"x":"base"}"#)
        #expect(try conflicts().first?.theirsStood == [field("x")])
    }

    @Test("what is heard in the middle of a page is earlier than what the page makes after it")
    func heardInPage() throws {
        try tell("1\n2\n3\n", tag: "1")
        try fixture.save("a", #"{"x":"one\n2\n3\n"}"#)
        let ahead = stamp(after: 3_600)
        var changes = ["b", "a"].map { name in
            RemoteChange(
                type: RecordTypeName("Note"), name: RecordName(name),
                operation: .upsert(
                    [RecordField(name: field("x"), value: .string(Text("1\n2\nthree\n")))],
                    parent: nil), changeTag: "2")
        }
        changes[1].stamps = [field("x"): ahead]
        let page = RemotePage(zone: fixture.zone.id, changes: changes)
        _ = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.feed.applyRemote(page)
        }
        #expect(try fixture.text("a") == #"{"x":"one\n2\nthree\n"}"#)
        let claim = try #require(try fixture.claim().first)
        let own = try #require(claim.stamps[field("x")])
        #expect(own > ahead)
    }

    // MARK: Delete against edit

    @Test(
        "a deletion after an edit whose answer got lost is no conflict, and stays",
        arguments: [true, false])
    func deletedAfterLostAnswer(isFinal: Bool) throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        let claim = try #require(try fixture.claim().first)
        try fixture.fail(claim)
        let id = try #require(try fixture.record("a")).id
        if isFinal { try fixture.delete(id) } else { try fixture.beginDelete(id) }
        try tell("mine", tag: "2")
        #expect(try conflicts().isEmpty)
        let record = try fixture.record("a")
        #expect(isFinal ? record == nil : record?.state == .waitingDelete)
        if !isFinal { try fixture.delete(id) }
        let delete = try #require(try fixture.claim().first)
        #expect(delete.row.operation == .delete && delete.base?.changeTag == "2")
    }

    @Test("an edit that meets a deletion stands, and is one conflict however often it is told")
    func deletedThere() throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        for _ in 0..<2 { #expect(try fixture.remoteDelete("a").outcome == .kept) }
        #expect(try conflicts().count == 1)
        let texts = try texts(try #require(try conflicts().first))
        #expect(texts[1] == #"{"x":"mine"}"# && texts[2] == nil)
        #expect(texts[0]?.contains("base") == true)
    }

    @Test("a deletion that meets an edit brings the record back with a conflict")
    func deletedHere() throws {
        try tell("base", tag: "1")
        try fixture.delete(try #require(try fixture.record("a")).id)
        try tell("theirs", tag: "2")
        #expect(try fixture.text("a")?.contains("theirs") == true)
        let texts = try texts(try #require(try conflicts().first))
        #expect(texts[0]?.contains("base") == true && texts[1] == nil)
        #expect(texts[2]?.contains("theirs") == true)
        try fixture.expectSound()
    }

    @Test("a removed file that waits for its deletion comes back with a conflict")
    func waitingDelete() throws {
        try tell("base", tag: "1")
        try fixture.beginDelete(try #require(try fixture.record("a")).id)
        try tell("base", tag: "1")
        #expect(try conflicts().isEmpty)
        try tell("theirs", tag: "2")
        #expect(try conflicts().count == 1)
        #expect(try fixture.record("a")?.state == .saved)
    }

    // MARK: A file that was open

    private func saveMerging(_ text: String, since base: String) throws {
        _ = try fixture.write(.mount) { transaction throws(RecordError) in
            try transaction.merging.saveMerging(
                text: Array(text.utf8), since: Array(base.utf8), type: fixture.note,
                stem: Stem("a"), modified: fixture.clock.now)
        }
    }

    @Test("who saves what the server has changed meanwhile wins, and the server's value is kept")
    func openFile() throws {
        try tell("base", tag: "1")
        try tell("theirs", tag: "2")
        try saveMerging(#"{"x":"mine"}"#, since: #"{"x":"base"}"#)
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
        let conflict = try #require(try conflicts().first)
        #expect(conflict.theirsStood.isEmpty && conflict.fields == [field("x")])
        #expect(try texts(conflict)[0] == #"{"x":"base"}"#)
        #expect(try texts(conflict)[2]?.contains("theirs") == true)
    }

    @Test("two programs of this machine have no conflict: history has what lost")
    func twoPrograms() throws {
        try fixture.save("a", #"{"x":"base"}"#)
        try fixture.save("a", #"{"x":"other"}"#)
        try saveMerging(#"{"x":"mine"}"#, since: #"{"x":"base"}"#)
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
        #expect(try conflicts().isEmpty)
    }

    // MARK: Settling

    private func makeConflict() throws -> Conflict {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        try tell("theirs", tag: "2", stamped: stamp(after: -60))
        return try #require(try conflicts().first)
    }

    @Test("a conflict is settled by a text, or by leaving the record as it is")
    func settling() throws {
        let conflict = try makeConflict()
        try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.merging.settle(
                conflict.id, .text(Array(#"{"x":"both"}"#.utf8), since: nil))
        }
        #expect(try fixture.text("a") == #"{"x":"both"}"#)
        #expect(try conflicts().isEmpty)
        #expect(try fixture.store.syncState.counts().zones.first?.conflicts == 0)
        // `rm -r` still finds what it has listed.
        #expect(try fixture.store.syncState.conflict(conflict.id)?.isSettled == true)
    }

    private func settle(_ conflict: Conflict, _ settlement: Settlement) throws {
        try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.merging.settle(conflict.id, settlement)
        }
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("a settlement leaves what has changed in the record since")
    func changedSince() throws {
        let conflict = try makeConflict()
        let before = try #require(try fixture.text("a"))
        try fixture.save("a", #"{"x":"mine","y":"since"}"#)
        try settle(conflict, .text(bytes(#"{"x":"both"}"#), since: bytes(before)))
        #expect(try fixture.text("a") == #"{"x":"both","y":"since"}"#)
    }

    @Test("taking a side takes the fields of the conflict, and no others")
    func side() throws {
        let conflict = try makeConflict()
        try fixture.save("a", #"{"x":"mine","y":"since"}"#)
        try settle(conflict, .side(.theirs))
        #expect(try fixture.text("a") == #"{"x":"theirs","y":"since"}"#)
        #expect(try fixture.pending() == ["a update"])
    }

    @Test("the side that deleted the record deletes it, the other one brings back what is gone")
    func deletedSide() throws {
        try tell("base", tag: "1")
        try fixture.save("a", #"{"x":"mine"}"#)
        try fixture.remoteDelete("a")
        try settle(try #require(try conflicts().first), .side(.theirs))
        #expect(try fixture.record("a") == nil)
        try tell("base", tag: "2")
        try fixture.save("a", #"{"x":"mine"}"#)
        try fixture.remoteDelete("a")
        try fixture.delete(try #require(try fixture.record("a")).id)
        try settle(try #require(try conflicts().first), .side(.mine))
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
        try fixture.expectSound()
    }

    @Test("a settlement leaves a refused text in the file")
    func draft() throws {
        let conflict = try makeConflict()
        _ = try fixture.draft("a", "{ half")
        try settle(conflict, .side(.theirs))
        #expect(try fixture.text("a") == "{ half")
        let id = try #require(try fixture.record("a")).id
        #expect(try fixture.savedText(id) == #"{"x":"theirs"}"#)
    }

    private func refuse(_ text: String, of conflict: Conflict) throws {
        try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.merging.keepDraft(
                bytes(text), of: conflict.id, because: RecordError(.invalidJSON, "no value"))
        }
    }

    @Test(
        "a good merge answers the refused ones before it", arguments: [true, false], [true, false])
    func refusedMerge(isThere: Bool, isSame: Bool) throws {
        let conflict = try makeConflict()
        if !isThere {
            try fixture.delete(try #require(try fixture.record("a")).id)
        }
        try refuse("{", of: conflict)
        try refuse("{ half", of: conflict)
        #expect(try fixture.text("a") == "{ half")
        try fixture.reopen()
        let text = isSame ? #"{"x":"mine"}"# : #"{"x":"both"}"#
        try settle(conflict, .text(bytes(text), since: isThere ? bytes(#"{"x":"mine"}"#) : nil))
        #expect(try fixture.text("a") == text)
        #expect(try fixture.record("a")?.hasDraft == false)
        #expect(try fixture.store.refusals(in: fixture.note).isEmpty)
        #expect(try conflicts().isEmpty)
        try fixture.expectSound()
    }

    @Test("a draft that somebody has made of the record stays, whatever becomes of a merge")
    func ownDraft() throws {
        let conflict = try makeConflict()
        _ = try fixture.draft("a", "{ mine")
        try refuse("{ merge", of: conflict)
        #expect(try fixture.text("a") == "{ merge")
        let kept = try fixture.store.past.trash(in: fixture.note).map { entry in
            String(decoding: try fixture.store.past.trashed(entry.id)?.text ?? [], as: UTF8.self)
        }
        #expect(kept == ["{ mine"])
        // A refused merge that somebody has edited is that person's.
        _ = try fixture.draft("a", "{ merge, and more")
        try settle(conflict, .text(bytes(#"{"x":"both"}"#), since: nil))
        #expect(try fixture.text("a") == "{ merge, and more")
        #expect(try conflicts().isEmpty)
    }

    @Test("another record that has the name since is left alone")
    func otherRecord() throws {
        let conflict = try makeConflict()
        let id = try #require(try fixture.record("a")).id
        _ = try fixture.write(.mount) { transaction throws(RecordError) in
            try transaction.records.rename(id, toType: fixture.note, stem: Stem("b"))
        }
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        try fixture.save("a", #"{"x":"another"}"#)
        #expect(failure { try settle(conflict, .side(.theirs)) }?.code == .alreadyExists)
        #expect(try fixture.text("a") == #"{"x":"another"}"#)
    }

    @Test("a file that was never on this machine cannot be taken")
    func missingAsset() throws {
        let conflict = try makeConflict()
        let hash = String(repeating: "ab", count: 32)
        let text = #"{"x":"mine","p":{"$asset":"a@p.jpg","size":3,"sha256":"\#(hash)"}}"#
        let error = failure { try settle(conflict, .text(bytes(text), since: nil)) }
        #expect(error?.code == .unavailable, "\(String(describing: error))")
        #expect(try conflicts().count == 1)
    }

    @Test("a record has at most a hundred conflicts")
    func many() throws {
        try tell("base", tag: "0")
        for number in 1...105 {
            try fixture.save("a", #"{"x":"mine \#(number)"}"#)
            try tell("theirs \(number)", tag: "\(number)", stamped: stamp(after: -60))
        }
        #expect(try conflicts().count == 100)
        #expect(try texts(try #require(try conflicts().last))[1] == #"{"x":"mine 6"}"#)
    }

    @Test("the plain name of a settled conflict stands for no other one")
    func plainName() throws {
        let first = try makeConflict()
        try fixture.save("a", #"{"x":"mine again"}"#)
        try tell("theirs again", tag: "3", stamped: stamp(after: -60))
        let last = try #require(try conflicts().first)
        try settle(last, .merged)
        let named = try fixture.store.syncState.lastConflict(
            in: fixture.zone.id, type: RecordTypeName("Note"), Stem("a"))
        #expect(named?.id == last.id && named?.isSettled == true)
        #expect(try conflicts().map(\.id) == [first.id])
    }

    @Test("a text that is no record settles nothing")
    func badText() throws {
        let conflict = try makeConflict()
        let error = failure {
            try fixture.write(.restore) { transaction throws(RecordError) in
                try transaction.merging.settle(conflict.id, .text(Array("{".utf8), since: nil))
            }
        }
        #expect(error?.code == .invalidJSON)
        #expect(try conflicts().count == 1)
        #expect(try fixture.text("a") == #"{"x":"mine"}"#)
    }

    @Test("what was settled is forgotten after a month, what was not stays")
    func purge() throws {
        let old = try makeConflict()
        try fixture.write(.mount) { transaction throws(RecordError) in
            try transaction.merging.settle(old.id, .merged)
        }
        try fixture.save("a", #"{"x":"mine again"}"#)
        try tell("theirs again", tag: "3", stamped: stamp(after: -60))
        try fixture.store.upkeep.purgeTrash()
        #expect(try fixture.store.syncState.conflict(old.id) != nil)
        for _ in 0..<40 {
            fixture.clock.advance(.seconds(86_400))
            try fixture.store.upkeep.purgeTrash()
        }
        #expect(try fixture.store.syncState.conflict(old.id) == nil)
        #expect(try conflicts().count == 1)
        try fixture.expectSound()
    }

    @Test("a report says what stands, what it was elsewhere, and why what is gone has no merge")
    func report() throws {
        let conflict = try makeConflict()
        func expect(_ words: [String]) throws {
            let report = try ConflictReport(conflict, of: fixture.store).text
            for word in words { #expect(report.contains(word), "\(word) is not in \(report)") }
        }
        try expect(["x: mine wins", #""x": "base""#, #""x": "mine""#, #""x": "theirs""#])
        try expect(["_other", "save merged.json"])
        try fixture.delete(try #require(try fixture.record("a")).id)
        try expect(["was removed here since", "--keep mine or --keep theirs"])
    }
}
