import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The data that stays on this machine when others no longer share something: what this user has written and
/// nobody received, and nothing else.
@Suite struct ShareEndTests {
    private let fixture: StoreFixture
    private let zone: ZoneID
    private let note: TypeID

    /// Others share `top` with `low` below it for writing; the texts are theirs.
    init() throws {
        fixture = try StoreFixture()
        let theirs = try fixture.sharedZone()
        (zone, note) = (theirs.zone.id, theirs.note)
        try share([share(of: "top"), share(of: "other")])
        try tell([
            told("top", "Geneva secret"), told("low", "Thun secret", parent: "top"),
            told("other", "Brienz secret"),
        ])
    }

    private func share(of root: String?, _ permission: ZoneInfo.Permission = .readWrite) -> Share {
        Share(
            name: RecordName("s-\(root ?? "zone")"), root: root.map { RecordName($0) },
            permission: permission, text: Array("{}".utf8))
    }

    private func share(_ shares: [Share]) throws {
        try fixture.apply(fixture.page([], shares: shares, in: zone))
    }

    private func told(_ name: String, _ text: String, parent: String? = nil) -> RemoteChange {
        RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(
                [RecordField(name: FieldName("t"), value: .string(Text(text)))],
                parent: parent.map { RecordName($0) }), changeTag: "r1", modifiedBy: "_ann")
    }

    @discardableResult
    private func tell(_ changes: [RemoteChange]) throws -> [RemoteResult.Outcome] {
        try fixture.apply(fixture.page(changes, token: "x", in: zone))
    }

    private func save(_ name: String, _ text: String) throws {
        try fixture.save(name, text, type: note)
    }

    private func endAll() throws {
        _ = fixture.changes()
        try fixture.feed { (feed) throws(RecordError) in try feed.removeZoneOfServer(zone) }
    }

    /// The trash of all zones that others share or have shared, newest first.
    private func trash() throws -> [String] {
        try fixture.store.past.trash(in: zone, type: RecordTypeName("Note")).map { entry in
            let text = try fixture.store.past.trashed(entry.id)?.text ?? []
            return "\(entry.stem) " + String(decoding: text, as: UTF8.self).filter { !$0.isNewline }
        }
    }

    private func expectNothingOnDisk(of words: [String]) throws {
        #expect(try fixture.store.upkeep.scrub())
        try fixture.expectSound()
        try fixture.whileClosed { path in
            let data = try Data(contentsOf: URL(filePath: path))
            for word in words { #expect(data.range(of: Data(word.utf8)) == nil, "\(word)") }
        }
    }

    struct Edit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var text: String?
        var draft: String?
        var isDeleted = false
        let kept: [String]
    }

    static let edits = [
        Edit(testDescription: "nothing", kept: []),
        Edit(
            testDescription: "a field of one's own", text: #"{"t":"Geneva secret","mine":1}"#,
            kept: [#"top {  "mine": 1}"#]),
        Edit(
            testDescription: "their field, written over", text: #"{"t":"Basel"}"#,
            kept: [#"top {  "t": "Basel"}"#]),
        Edit(testDescription: "their field, removed", text: "{}", kept: []),
        Edit(
            testDescription: "a refused text with their words",
            draft: #"{"t":"Geneva secret","more":"my own words",}"#,
            kept: [#"top {"t":"…","more":"my own words",}"#]),
        Edit(
            testDescription: "a refused text that is their text",
            draft: "{\n  \"t\": \"Geneva secret\",\n",
            kept: []),
        Edit(testDescription: "a deletion", isDeleted: true, kept: []),
    ]

    @Test("of a record whose share ends stays what this user wrote", arguments: edits)
    func ended(_ edit: Edit) throws {
        for isZone in [true, false] {
            let tests = try ShareEndTests()
            let fixture = tests.fixture
            if let text = edit.text { try tests.save("top", text) }
            if let draft = edit.draft {
                _ = try fixture.write { transaction throws(RecordError) in
                    try transaction.records.saveDraft(
                        text: Array(draft.utf8), type: tests.note, stem: Stem("top"),
                        error: RecordError(.invalidJSON, "bad"))
                }
            }
            if edit.isDeleted {
                try fixture.delete(try #require(try fixture.record("top", type: tests.note)).id)
            }
            if isZone {
                try tests.endAll()
                let news = fixture.changes().flatMap(\.shareNews)
                #expect(news.contains { $0.kind == .ended })
                #expect(news.first { $0.kind == .unsent }?.count == (edit.kept.isEmpty ? nil : 1))
                #expect(try fixture.store.zones(in: .shared).isEmpty)
            } else {
                try tests.tell([StoreFixture.gone("top")])
                #expect(try fixture.names(tests.note) == ["low", "other"])
            }
            #expect(try tests.trash() == edit.kept, "\(isZone)")
            #expect(try fixture.store.sharing.ownTrashCount() == edit.kept.count)
            #expect(try fixture.outbox().isEmpty)
            try tests.expectNothingOnDisk(
                of: ["Geneva secret"] + (isZone ? ["Thun secret", "Brienz secret"] : []))
        }
    }

    @Test("of a refused text without a record stays what is not theirs, in the file or the trash")
    func draftOfNoRecord() throws {
        for isZone in [true, false] {
            let tests = try ShareEndTests()
            let fixture = tests.fixture
            for (stem, text) in [
                ("copied", #"{"t":"Geneva secret","more":"my own words",}"#),
                ("own", "{ my own words"), ("theirs", "{\n\"t\": \"Geneva secret\""),
            ] {
                _ = try fixture.write { transaction throws(RecordError) in
                    try transaction.records.saveDraft(
                        text: Array(text.utf8), type: tests.note, stem: Stem(stem),
                        error: RecordError(.invalidJSON, "bad"))
                }
            }
            if isZone { try tests.endAll() } else { try tests.tell([StoreFixture.gone("top")]) }
            let copied = #"copied {"t":"…","more":"my own words",}"#
            #expect(try tests.trash().sorted() == [copied] + (isZone ? ["own { my own words"] : []))
            // Where the zone stays, a text without their words stays in its file.
            #expect(
                try fixture.store.drafts().map(\.stem.description) == (isZone ? [] : ["own"]))
            try tests.expectNothingOnDisk(of: ["Geneva secret"])
        }
    }

    @Test("in a zone that is shared whole for writing an edit wins against a deletion")
    func editInWholeZone() throws {
        for (permission, isKept) in [(ZoneInfo.Permission.readWrite, true), (.readOnly, false)] {
            let tests = try ShareEndTests()
            try tests.save("top", #"{"t":"Basel"}"#)
            try tests.share([tests.share(of: nil, permission)])
            #expect(try tests.tell([StoreFixture.gone("top")]) == [isKept ? .kept : .deleted])
            #expect(try tests.trash() == (isKept ? [] : [#"top {  "t": "Basel"}"#]))
        }
    }

    @Test(
        "unsent children go with the parent that is no longer shared, and theirs stay in the trash")
    func orphans() throws {
        try save("child", #"{"mine":"my own words","$parent":"top"}"#)
        try save("grandchild", #"{"mine":"more of mine","$parent":"child"}"#)
        try save("free", #"{"mine":"kept","$parent":"other"}"#)
        let outcomes = try tell([StoreFixture.gone("top"), StoreFixture.gone("low")])
        #expect(outcomes == [.deleted, .deleted, .deleted, .deleted])
        #expect(try fixture.names(note) == ["free", "other"])
        #expect(
            try trash().sorted() == [
                #"child {  "mine": "my own words"}"#, #"grandchild {  "mine": "more of mine"}"#,
            ])
    }

    @Test(
        "a record that was made of theirs under another name goes with it, one of one's own stays")
    func copies() throws {
        for (text, isGone) in [
            (#"{"t":"Geneva secret","$parent":"other"}"#, true),
            (#"{"mine":"a","more":"b","t":"Geneva secret","$parent":"other"}"#, false),
        ] {
            let tests = try ShareEndTests()
            let fixture = tests.fixture
            let id = try #require(try fixture.record("top", type: tests.note)).id
            _ = try fixture.write { transaction throws(RecordError) in
                try transaction.records.rename(id, toType: tests.note, stem: Stem("mine"))
            }
            try tests.save("mine", text)
            try tests.tell([StoreFixture.gone("top")])
            #expect(try fixture.names(tests.note).contains("mine") == !isGone, "\(text)")
        }
    }

    @Test("a pass that no longer reports a record takes its traces along, also from the trash")
    func pass() throws {
        try fixture.delete(try #require(try fixture.record("low", type: note)).id)
        for claim in try fixture.write(
            .sync,
            { transaction throws(RecordError) in try transaction.outbox.claimOutbox(in: zone) })
        {
            try fixture.complete(claim)
        }
        #expect(try trash().count == 1)
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
        #expect(try fixture.store.sharing.shares(in: zone) == [])
        try fixture.apply(
            fixture.page(
                [told("other", "Brienz secret")], token: "y", isLast: true,
                shares: [share(of: "other")], in: zone))
        #expect(try fixture.names(note) == ["other"] && trash() == [])
        try expectNothingOnDisk(of: ["Geneva secret", "Thun secret"])
        #expect(try fixture.text("other", type: note)?.contains("Brienz secret") == true)
    }

    @Test("a zone that ends while its server was behind keeps every edit of this user's")
    func endedBehind() throws {
        try save("top", #"{"t":"Geneva secret","mine":1}"#)
        for claim in try fixture.write(
            .sync,
            { transaction throws(RecordError) in try transaction.outbox.claimOutbox(in: zone) })
        {
            try fixture.complete(claim, tag: "r2")
        }
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: zone) }
        try endAll()
        #expect(try trash() == [#"top {  "mine": 1}"#])
    }

    @Test("a value that lost a conflict stays, for it is nowhere else")
    func conflict() throws {
        try save("top", #"{"t":"Basel"}"#)
        try fixture.clockedConflict(in: zone)
        try tell([StoreFixture.gone("top")])
        #expect(try trash() == [#"top {  "t": "Basel"}"#])
        #expect(try fixture.store.syncState.conflicts(in: zone, settledToo: true).isEmpty)
    }

    @Test("what a program could not save over a record that is gone is kept, without their fields")
    func unsaved() throws {
        func keep(_ text: String, since base: String?) throws -> Bool {
            try fixture.write { transaction throws(RecordError) in
                try transaction.outbox.trashUnsaved(
                    Array(text.utf8), since: base.map { Array($0.utf8) }, stem: Stem("top"),
                    type: RecordTypeName("Note"), in: zone)
            }
        }
        try endAll()
        let base = #"{"t":"Geneva secret","n":1}"#
        #expect(try !keep(base, since: base))
        #expect(try !keep("{ no JSON", since: base))
        #expect(try !keep("[1]", since: base))
        #expect(try keep(#"{"t":"Geneva secret","n":2}"#, since: base))
        #expect(try keep(#"{"t":"mine"}"#, since: nil))
        #expect(try trash() == [#"top {  "t": "mine"}"#, #"top {  "n": 2}"#])
        #expect(try fixture.store.past.zones(in: .shared, with: .trash).map(\.id) == [zone])
    }
}

extension StoreFixture {
    /// Somebody else's later edit of `top`'s field wins against the edit here.
    fileprivate func clockedConflict(in zone: ZoneID) throws {
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName("top"),
            operation: .upsert(
                [RecordField(name: FieldName("t"), value: .string("later secret"))], parent: nil),
            changeTag: "r2", modified: clock.now + .seconds(100), modifiedBy: "_ann")
        change.stamps = [
            FieldName("t"): FieldStamp(
                time: FieldStamp(at: clock.now + .seconds(100)).time, device: 7)
        ]
        try apply(page([change], in: zone))
    }
}
