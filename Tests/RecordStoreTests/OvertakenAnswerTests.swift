import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The answer to a request comes after the feed has told what others did to the record since. What
/// the user has then reaches the server, and nothing else is sent.
@Suite struct OvertakenAnswerTests {
    /// The news of the feed between the arrival of the request and its answer.
    enum News: CaseIterable {
        case nothing, echo, otherField, laterValue, earlierValue, deletion, madeAgain
    }

    /// The action of the user in that time, before the news or after them.
    enum Meanwhile: CaseIterable { case nothing, edit, remove, delete, makeAnew }

    /// The server's record, and the values that the user means.
    private struct State {
        var server: [String: Int64]?
        var tag = 1
        var here: [String: Int64]?
        /// The user has done something since the request was taken.
        var isTouched = false
    }

    private let fixture: StoreFixture
    private var state = State()

    init() throws { fixture = try StoreFixture() }

    private static func text(_ values: [String: Int64]) -> String {
        let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return "{\(members.joined(separator: ","))}"
    }

    private func values(_ document: RecordDocument) -> [String: Int64] {
        var values: [String: Int64] = [:]
        for field in document.fields {
            if case .int64(let number) = field.value { values[field.name.description] = number }
        }
        return values
    }

    private mutating func save(_ values: [String: Int64]) throws {
        try fixture.save("a", Self.text(values))
        state.here = values
    }

    /// The server's report of the record as it is now.
    private func tell(at time: Timestamp? = nil) throws {
        guard let server = state.server else {
            try fixture.remoteDelete("a")
            return
        }
        let fields = server.sorted { $0.key < $1.key }.map {
            RecordField(name: FieldName($0.key), value: .int64($0.value))
        }
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName("a"),
            operation: .upsert(fields, parent: nil), changeTag: "t\(state.tag)",
            modifiedBy: "_other")
        if let time { change.stamps[FieldName("n")] = FieldStamp(at: time) }
        try fixture.apply(fixture.page([change]))
    }

    private mutating func put(_ values: [String: Int64]?) {
        state.tag += 1
        state.server = values
    }

    private mutating func happen(_ news: News) throws {
        let now = fixture.clock.now
        switch news {
        case .nothing: return
        case .echo: try tell()
        case .otherField:
            put(["n": 2, "theirs": 7])
            try tell()
            if state.here != nil { state.here?["theirs"] = 7 }
        case .laterValue:
            put(["n": 9])
            try tell(at: now + .seconds(60))
            // Who removed the file without having seen that edit gets it back.
            state.here = ["n": 9]
        case .earlierValue:
            put(["n": 9])
            try tell(at: now - .seconds(3600))
        case .deletion:
            put(nil)
            try tell()
        case .madeAgain:
            put(nil)
            put(["n": 2])
            try tell()
        }
    }

    private mutating func act(_ meanwhile: Meanwhile) throws {
        fixture.clock.advance(.seconds(1))
        guard meanwhile != .nothing, let id = try fixture.record("a")?.id else { return }
        state.isTouched = true
        switch meanwhile {
        case .nothing: break
        case .edit:
            var values = state.here ?? [:]
            values["mine"] = 5
            try save(values)
        case .remove:
            try fixture.beginDelete(id)
            state.here = nil
        case .delete:
            try fixture.delete(id)
            state.here = nil
        case .makeAnew:
            try fixture.delete(id)
            try save(["n": 3])
        }
    }

    /// Sends what is left to a server that compares tags, and tells what it refuses.
    private mutating func settle() throws {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        for _ in 0..<5 {
            for claim in try fixture.claim() {
                let isRight =
                    state.server == nil
                    ? claim.isDelete || claim.row.operation == .create
                    : claim.base?.changeTag == "t\(state.tag)"
                guard isRight else {
                    try fixture.fail(claim)
                    try tell()
                    continue
                }
                put(claim.document.map(values))
                try fixture.complete(claim, tag: "t\(state.tag)")
            }
        }
    }

    @Test(
        "what the user has then is on both sides in the end",
        arguments: News.allCases, Meanwhile.allCases)
    func settles(_ news: News, _ meanwhile: Meanwhile) throws {
        for isNew in [true, false] {
            var tests = try OvertakenAnswerTests()
            try tests.run(news, meanwhile, isNew: isNew)
        }
    }

    private mutating func run(_ news: News, _ meanwhile: Meanwhile, isNew: Bool) throws {
        let comment: Comment = "\(news), \(meanwhile), new: \(isNew)"
        if !isNew {
            try save(["n": 1])
            put(["n": 1])
            try fixture.sendAll(tag: "t\(state.tag)")
        }
        try save(["n": 2])
        let claim = try #require(try fixture.claim().first)
        put(["n": 2])
        let answer = "t\(state.tag)"
        try happen(news)
        try act(meanwhile)
        try fixture.complete(claim, tag: answer)
        let operations = try fixture.outbox()
        #expect(operations.count <= 1 && operations.allSatisfy { $0.batch == nil }, comment)
        if !state.isTouched {
            let isRest = news == .deletion || news == .earlierValue
            #expect(operations.isEmpty != isRest, comment)
        }
        try fixture.expectSound()
        try settle()
        #expect(try fixture.pending() == [], comment)
        #expect(state.server == state.here, comment)
        let text = try fixture.text("a")
        #expect((text == nil) == (state.here == nil), comment)
        if let id = try fixture.record("a")?.id, let here = state.here {
            #expect(
                try values(fixture.document(id)) == here
                    && fixture.store.meta(of: id)?.changeTag == "t\(state.tag)", comment)
        }
        try fixture.expectSound()
    }

    @Test("a record that is made again after such a deletion keeps what the server had as its base")
    func ancestor() throws {
        try fixture.save("a", #"{"n":1,"m":1}"#)
        try fixture.sendAll(tag: "t1")
        try fixture.save("a", #"{"n":2,"m":1}"#)
        let claim = try #require(try fixture.claim().first)
        try fixture.remoteDelete("a")
        try fixture.complete(claim, tag: "t2")
        let again = try #require(try fixture.claim().first)
        #expect(again.row.operation == .create && again.base == nil)
        // Another machine makes it again too, without the edit: that is no conflict.
        try fixture.fail(again)
        #expect(try fixture.upsert("a", ["n": .int64(1), "m": .int64(1)], tag: "t4").id != nil)
        #expect(try fixture.text("a") == #"{"n":2,"m":1}"#)
        #expect(try fixture.claim().first?.base?.changeTag == "t4")
    }
}

extension StoreFixture {
    fileprivate func document(_ id: RecordID) throws(RecordError) -> RecordDocument {
        try RecordDocument(
            parsing: try store.savedText(of: id) ?? [],
            schema: try store.schema(of: RecordTypeName("Note")))
    }
}
