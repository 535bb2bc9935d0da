import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Edits of this machine that lost in a merge elsewhere: the stamp of the value that won names them,
/// and the user sees a conflict.
@Suite struct LostEditTests {
    private let fixture: StoreFixture
    private let id: RecordID
    /// The stamp of the edit here.
    private let mine: FieldStamp

    /// `a` came from the server, was edited here, and the server has taken the edit.
    init(_ text: String = "mine") throws {
        fixture = try StoreFixture()
        try fixture.upsert("a", ["x": .string("one\ntwo\nthree\n"), "y": .int64(1)], tag: "1")
        id = try #require(try fixture.record("a")).id
        fixture.clock.advance(.seconds(1))
        let value = JSONValue.string(Text(text)).serialized()
        try fixture.save("a", "{\"x\":\(String(decoding: value, as: UTF8.self)),\"y\":1}")
        let claim = try #require(try fixture.claim().first)
        mine = try #require(claim.stamps[FieldName("x")])
        try fixture.complete(claim, tag: "2")
        fixture.clock.advance(.seconds(10))
    }

    private func tell(_ text: String, losers: [LostEdit], tag: String = "3") throws {
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName("a"),
            operation: .upsert(
                [
                    RecordField(name: FieldName("x"), value: .string(Text(text))),
                    RecordField(name: FieldName("y"), value: .int64(1)),
                ], parent: nil), changeTag: tag, modifiedBy: "_other")
        let stamp = FieldStamp(time: FieldStamp(at: fixture.clock.now).time, device: 7)
        change.stamps = [FieldName("x"): stamp.over(losers)]
        try fixture.apply(fixture.page([change]))
    }

    @Test("an edit that is named as lost is a conflict with the value that won; others are none")
    func named() throws {
        let other = LostEdit(FieldStamp(time: mine.time + 1, device: 9))
        for (losers, isConflict) in [
            ([], false), ([other], false), ([LostEdit(mine)], true),
            ([other, LostEdit(mine)], true),
        ] {
            let tests = try LostEditTests()
            // The stamps of a store name its device, which is random.
            let losers = losers.map { $0 == LostEdit(mine) ? LostEdit(tests.mine) : $0 }
            try tests.tell("theirs", losers: losers)
            let conflicts = try tests.fixture.store.syncState.conflicts(in: tests.fixture.zone.id)
            #expect(conflicts.map(\.fields) == (isConflict ? [[FieldName("x")]] : []), "\(losers)")
            #expect(conflicts.map(\.theirsStood) == conflicts.map(\.fields))
            #expect(try tests.fixture.text("a")?.contains("theirs") == true)
            #expect(try tests.fixture.pending() == [])
            for conflict in conflicts {
                let text = try tests.fixture.store.syncState.text(of: .mine, in: conflict) ?? []
                #expect(String(decoding: text, as: UTF8.self).contains("mine"))
            }
            try tests.fixture.expectSound()
        }
    }

    @Test("what is told again is the same conflict, and a field of another edit is none")
    func once() throws {
        for tag in ["3", "3", "4"] { try tell("theirs", losers: [LostEdit(mine)], tag: tag) }
        #expect(try fixture.conflicts() == ["a"])
        try fixture.save("a", #"{"x":"again","y":1}"#)
        try fixture.sendAll(tag: "5")
        fixture.clock.advance(.seconds(10))
        try tell("later", losers: [LostEdit(mine)], tag: "6")
        #expect(try fixture.conflicts() == ["a"], "the edit that lost is not this one")
    }

    @Test(
        "of a text of several lines it counts whether lines of this user are gone",
        arguments: [
            ("one\nmy own\nthree\n", "one\nmy own\ntheirs\n", false),
            ("one\nmy own\nthree\n", "one\ntheirs\nthree\n", true),
            ("one\nmy own\nthree\n", "my own\nalone", false),
            ("one\nthree\n", "three\nmore\n", false),
        ])
    func lines(_ mine: String, _ theirs: String, _ isConflict: Bool) throws {
        let tests = try LostEditTests(mine)
        let unknown = LostEdit(FieldStamp(time: tests.mine.time + 5, device: 9))
        try tests.tell(theirs, losers: [unknown])
        #expect(try tests.fixture.conflicts() == (isConflict ? ["a"] : []))
    }

    // MARK: Large fields

    @Test("bytes that were written over somebody else's newer ones leave these as a conflict")
    func lostField() throws {
        for (isTold, isSame) in [(false, false), (true, false), (true, true)] {
            let fixture = try StoreFixture()
            let id = try fixture.save("a", "{}").id
            try fixture.setAsset(id, "photo", bytes: "first")
            try fixture.sendAll(tag: "1")
            let read = try #require(
                try fixture.write { transaction throws(RecordError) in
                    try transaction.sharing.version(of: id)
                })
            let theirs = try fixture.importBytes("their bytes")
            if isTold {
                let asset = AssetValue(
                    fileName: "a@photo.bin", size: theirs.size, sha256: theirs.hash)
                try fixture.upsert("a", ["photo": .asset(asset)], tag: "2")
            }
            try fixture.setAsset(id, "photo", bytes: isSame ? "their bytes" : "my bytes")
            try fixture.write { transaction throws(RecordError) in
                try transaction.sharing.noteLostField(
                    FieldName("photo"), nil, of: id, since: read)
            }
            #expect(try fixture.conflicts() == (isTold && !isSame ? ["a"] : []))
            let conflict = try fixture.store.syncState.conflicts(in: fixture.zone.id).first
            #expect(conflict.map(\.fields) == (isTold && !isSame ? [FieldName("photo")] : nil))
            try fixture.expectSound()
        }
    }
}
