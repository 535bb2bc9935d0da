import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// What changes of one name amount to between two sends.
@Suite struct OutboxTests {
    enum Step: String { case create, edit, delete, send, claim, complete, fail, refuse }

    struct Case: CustomTestStringConvertible, Sendable {
        let steps: [Step]
        /// What is pending then, those on their way with a star.
        let pending: [String]
        var testDescription: String { steps.map(\.rawValue).joined(separator: ", ") }
        init(_ steps: Step..., leaves pending: [String]) {
            self.steps = steps
            self.pending = pending
        }
    }

    static let cases = [
        Case(.create, leaves: ["create"]),
        Case(.create, .edit, leaves: ["create"]),
        Case(.create, .delete, leaves: []),
        Case(.create, .edit, .delete, leaves: []),
        Case(.create, .delete, .create, leaves: ["create"]),
        Case(.create, .send, leaves: []),
        Case(.create, .send, .edit, leaves: ["update"]),
        Case(.create, .send, .edit, .edit, leaves: ["update"]),
        Case(.create, .send, .delete, leaves: ["delete"]),
        Case(.create, .send, .edit, .delete, leaves: ["delete"]),
        Case(.create, .send, .delete, .create, leaves: ["update"]),
        Case(.create, .send, .delete, .create, .edit, leaves: ["update"]),
        Case(.create, .send, .delete, .create, .delete, leaves: ["delete"]),
        Case(.create, .claim, .edit, leaves: ["create*", "update"]),
        Case(.create, .claim, .edit, .complete, leaves: ["update"]),
        Case(.create, .claim, .edit, .fail, leaves: ["create"]),
        Case(.create, .claim, .edit, .refuse, leaves: ["create"]),
        Case(.create, .claim, .fail, .edit, leaves: ["create"]),
        Case(.create, .claim, .delete, leaves: ["create*", "delete"]),
        Case(.create, .claim, .delete, .complete, leaves: ["delete"]),
        Case(.create, .claim, .delete, .fail, leaves: ["delete"]),
        Case(.create, .claim, .fail, .delete, leaves: ["delete"]),
        Case(.create, .claim, .refuse, .delete, leaves: []),
        Case(.create, .claim, .delete, .create, leaves: ["create*", "update"]),
        Case(.create, .claim, .delete, .create, .complete, leaves: ["update"]),
        Case(.create, .claim, .delete, .create, .fail, leaves: ["create"]),
        Case(.create, .send, .edit, .claim, .delete, .fail, leaves: ["delete"]),
        Case(.create, .send, .edit, .claim, .delete, .complete, leaves: ["delete"]),
        Case(.create, .send, .delete, .claim, .create, leaves: ["delete*", "create"]),
        Case(.create, .send, .delete, .claim, .create, .complete, leaves: ["create"]),
        Case(.create, .send, .delete, .claim, .create, .fail, leaves: ["update"]),
        Case(.create, .send, .delete, .claim, .create, .delete, .fail, leaves: ["delete"]),
        Case(.create, .send, .delete, .claim, .create, .delete, .complete, leaves: []),
    ]

    @Test("changes between two sends become one", arguments: cases)
    func coalescing(_ example: Case) throws {
        let fixture = try StoreFixture()
        var claimed: OutboxClaim?
        var number = 0
        for step in example.steps {
            number += 1
            switch step {
            case .create, .edit: try fixture.save("a", "{\"n\":\(number)}")
            case .delete: try fixture.delete(try #require(try fixture.record("a")).id)
            case .send: try fixture.sendAll()
            case .claim: claimed = try fixture.claim().first
            case .complete: try fixture.complete(try #require(claimed))
            case .fail: try fixture.fail(try #require(claimed))
            case .refuse: try fixture.fail(try #require(claimed), error: "refused")
            }
            try fixture.expectSound()
        }
        #expect(try fixture.pending() == example.pending.map { "a \($0)" })
    }

    @Test("nothing is claimed of a name that is on its way, and no change twice")
    func claims() throws {
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        try fixture.save("b", #"{"n":1}"#)
        let first = try fixture.claim()
        #expect(first.map(\.row.name) == [RecordName("a"), RecordName("b")])
        #expect(first.map(\.row.attempts) == [1, 1])
        try fixture.save("a", #"{"n":2}"#)
        #expect(try fixture.claim().isEmpty)
        try fixture.complete(first[0])
        #expect(try fixture.claim().map(\.row.name) == [RecordName("a")])
    }

    @Test("what the server refused is parked until an edit or a retry")
    func parked() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.fail(try #require(try fixture.claim().first), error: "too large")
        #expect(try fixture.claim().isEmpty)
        #expect(try fixture.outbox().first?.error == "too large")
        try fixture.save("a", #"{"n":2}"#)
        let again = try #require(try fixture.claim().first)
        #expect(again.row.attempts == 2)
        try fixture.fail(again, error: "too large")
        try fixture.write { transaction throws(RecordError) in
            try transaction.outbox.retryOutbox(id)
        }
        #expect(try fixture.claim().count == 1)
    }

    @Test("the tag of an upload is the record's, also when it was made anew meanwhile")
    func changeTags() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        let row = try #require(try fixture.claim().first)
        try fixture.delete(id)
        let second = try fixture.save("a", #"{"n":2}"#).id
        try fixture.complete(row, tag: "t7")
        let meta = try #require(try fixture.store.meta(of: second))
        #expect(meta.changeTag == "t7")
        #expect(meta.generation == 2)
        #expect(meta.isPending)
    }

    @Test("a record made anew before its delete was sent is of the old base")
    func inheritedBase() throws {
        let fixture = try StoreFixture()
        let id = try fixture.save("a", #"{"n":1}"#).id
        try fixture.sendAll(tag: "t3")
        try fixture.delete(id)
        let delete = try #require(try fixture.claim().first)
        let second = try fixture.save("a", #"{"n":2}"#).id
        #expect(try fixture.store.meta(of: second)?.changeTag == "")
        try fixture.fail(delete)
        #expect(try fixture.store.meta(of: second)?.changeTag == "t3")
        #expect(try fixture.outbox().first?.attempts == 1)
    }
}
