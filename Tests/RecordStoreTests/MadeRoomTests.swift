import RecordModel
import RecordStoreSync
import TestSupport
import Testing

@testable import RecordStore

/// The server's record of another type takes the name of a record here, in whatever state that is.
@Suite struct MadeRoomTests {
    /// The record `a` of the type Note before a Task of that name arrives, and what is to become of
    /// it.
    struct State: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The server has had it.
        var isSent = true
        var isEdited = false
        var isOnItsWay = false
        var isRemoved = false
        var draft: String?
        /// It stays under another name, and is made on the server.
        var stays = false
        var hasConflict = false
    }

    static let states = [
        State(testDescription: "never sent", isSent: false, stays: true),
        State(
            testDescription: "on its way for the first time", isSent: false, isOnItsWay: true,
            stays: true),
        State(testDescription: "as the server had it"),
        State(testDescription: "edited", isEdited: true, stays: true, hasConflict: true),
        State(
            testDescription: "with an edit on its way", isEdited: true, isOnItsWay: true,
            stays: true, hasConflict: true),
        State(testDescription: "removed", isRemoved: true),
        State(testDescription: "edited and removed", isEdited: true, isRemoved: true),
        State(testDescription: "with a refused text", draft: "{ half"),
        State(
            testDescription: "edited, with a refused text", isEdited: true, draft: "{ half",
            stays: true, hasConflict: true),
    ]

    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("a record with something to send stays under a longer name", arguments: states)
    func room(_ state: State) throws {
        let flight = try prepare(state)
        try fixture.upsert("a", ["n": .int64(9)], type: "Task", tag: "t9")
        if let flight {
            #expect(try fixture.claim().isEmpty)
            try fixture.complete(flight, tag: "t2")
        }
        #expect(try fixture.names(fixture.task) == ["a"])
        #expect(
            try fixture.text("a", type: fixture.task)?.filter { !$0.isWhitespace } == #"{"n":9}"#)
        #expect(try fixture.conflicts() == (state.hasConflict ? ["a"] : []))
        #expect(try fixture.pending() == (state.stays ? ["a:Note create"] : []))
        let text = state.isEdited ? #"{"n":2,"m":1}"# : #"{"n":1,"m":1}"#
        let saved = try fixture.record("a").map { try fixture.savedText($0.id) ?? "-" }
        let isDraftLeft = !state.stays && state.draft != nil
        #expect(saved == (state.stays ? text : isDraftLeft ? "-" : nil))
        #expect(try fixture.text("a") == (state.draft ?? (state.stays ? text : nil)))
        #expect(try fixture.trashed() == (state.stays ? [] : ["a"]))
        try fixture.expectSound()
        // Then the server gets it, and its deletion of the other record takes nothing along.
        try fixture.sendAll(tag: "t10")
        #expect(try fixture.pending() == [])
        #expect(try fixture.remoteDelete("a").outcome == .deleted)
        #expect(try fixture.names(fixture.task) == [])
        #expect(try fixture.names() == (state.stays || isDraftLeft ? ["a"] : []))
        try fixture.expectSound()
    }

    /// Returns the change that is on its way.
    private func prepare(_ state: State) throws -> OutboxClaim? {
        let id = try fixture.save("a", #"{"n":1,"m":1}"#).id
        if state.isSent { try fixture.sendAll(tag: "t1") }
        if state.isEdited { try fixture.save("a", #"{"n":2,"m":1}"#) }
        let flight = state.isOnItsWay ? try fixture.claim().first : nil
        if let draft = state.draft { _ = try fixture.draft("a", draft) }
        if state.isRemoved { try fixture.beginDelete(id) }
        return flight
    }

    @Test("the times at which its values were made elsewhere stay with it, and not with the other")
    func stamps() throws {
        let stamp = FieldStamp(time: FieldStamp(at: fixture.clock.now).time - 1, device: 7)
        var change = StoreFixture.told("a", n: 1)
        change.stamps[FieldName("n")] = stamp
        try fixture.apply(fixture.page([change]))
        try fixture.save("a", #"{"n":1,"m":5}"#)
        try fixture.upsert("a", ["n": .int64(9)], type: "Task", tag: "r2")
        func heard(_ name: String) throws -> [FieldName: FieldStamp] {
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.merging.heardStamps(of: RecordName(name), fixture.zone.id).stamps
            }
        }
        #expect(try heard("a") == [:])
        #expect(try heard("a:Note") == [FieldName("n"): stamp])
        let claim = try #require(try fixture.claim().first)
        #expect(claim.row.name == RecordName("a:Note") && claim.stamps[FieldName("n")] == stamp)
    }
}
