import Foundation
import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random steps of users and of an exchange with a server: edits, deletions, pages of the feed and
/// passes over it, claims and their answers, kills. After each step the store says what a plain model
/// says. The seed is the test's argument.
@Suite struct ExchangeWalkTests {
    @Test(
        "a store and a server go through a random exchange as a plain model does",
        arguments: LongForm.seeds(8, of: 200))
    func walk(_ seed: Int) throws {
        let walk = try ExchangeWalk(seed: UInt64(seed))
        for _ in 1...150 where walk.differences.isEmpty { try walk.next() }
        if walk.differences.isEmpty { try walk.settle() }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }
}

private final class ExchangeWalk {
    private typealias Values = ExchangeModel.Values
    private let fixture: StoreFixture
    private var model = ExchangeModel()
    private var server = ModelServer()
    private var random: SeededRandom
    private let names = (0..<5).map { "r\($0)" }
    private let words = ["alpha", "beta", "gamma"]
    private var token = 0
    /// Changes on their way, with what the server made of those that have arrived.
    private var flights: [(claim: OutboxClaim, arrival: Arrival?)] = []
    /// A request was applied whose answer did not come.
    private var isAnswerLost = false
    private enum Arrival { case taken(tag: String), conflict }
    private(set) var steps: [String] = []
    /// The first difference from the model. The walk ends with the first.
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
        _ = try save("r0")
    }

    private func expect(
        _ isRight: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String
    ) rethrows {
        if try !isRight() { differences.append(what()) }
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let untold = try fixture.untold([fixture.note]) { steps.append(try step()) }
        differences += untold
        try expectModel()
    }

    private func step() throws -> String {
        let name = random.pick(names)
        switch random.below(20) {
        case 0, 1, 2, 3: return try save(name)
        case 4: return try beginDelete(name)
        case 5: return try cancelDelete(name)
        case 6: return try finalize()
        case 7: return try restore(name)
        case 8: return try refusedSave(name)
        case 9, 10: return try editThere(name)
        case 11: return removeThere(name)
        case 12, 13: return try fetch(limit: random.below(3) + 1)
        case 14, 15: return try claim(limit: random.below(2) == 0 ? 2 : 200)
        case 16: return try answer(mayFail: true)
        case 17, 18: return arrive()
        default:
            switch random.below(6) {
            case 0: return try restart()
            case 1: return try reopen()
            case 2: return try retry()
            case 3, 4: return arrive()
            default: return try answer(mayFail: true)
            }
        }
    }

    // MARK: Users

    private func save(_ name: String) throws -> String {
        var values = Values()
        // A record that replaces one that the server still has keeps its other field.
        let replaced = try pending(name) == .delete ? model.deleted[name] ?? nil : nil
        values.theirs = model.local[name].map(\.values.theirs) ?? replaced
        values.mine = Int64(random.below(6))
        values.word = random.pick(words)
        let index = names.firstIndex(of: name) ?? 0
        // A parent has a smaller number, so that there are no rings.
        if index > 0, random.below(2) == 0 { values.parent = names[random.below(index)] }
        let isSame = model.local[name]?.values == values
        let isNew = model.local[name] == nil
        let result = try fixture.save(name, values.text)
        expect(
            result.outcome == (isNew ? .created : isSame ? .unchanged : .updated),
            "saved as \(result.outcome)")
        model.save(name, values)
        return "save \(name) \(values.text)"
    }

    /// A save in a transaction that fails, and a text that is no record: nothing is left of either.
    private func refusedSave(_ name: String) throws -> String {
        let error = failure {
            try fixture.write { transaction throws(RecordError) in
                for other in self.names {
                    _ = try transaction.records.save(
                        text: Array(#"{"mine":77}"#.utf8), type: self.fixture.note,
                        stem: Stem(other))
                }
                throw RecordError(.interrupted, "stop")
            }
        }
        expect(error?.code == .interrupted, "\(String(describing: error))")
        let refused = failure { try fixture.save(name, #"{"mine":"#) }
        expect(refused?.code == .invalidJSON, "not refused")
        return "refused save of \(name)"
    }

    private func beginDelete(_ name: String) throws -> String {
        guard let id = try fixture.record(name)?.id else { return "delete nothing" }
        try fixture.beginDelete(id)
        model.beginDelete(name)
        return "delete \(name)"
    }

    private func cancelDelete(_ name: String) throws -> String {
        guard let id = try fixture.record(name)?.id else { return "cancel nothing" }
        try fixture.write { transaction throws(RecordError) in
            try transaction.records.cancelDelete(id)
        }
        model.cancelDelete(name)
        return "cancel \(name)"
    }

    private func finalize() throws -> String {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        model.finalize()
        return "finalize"
    }

    private func restore(_ name: String) throws -> String {
        guard model.local[name] == nil, server.isTold(name, at: token),
            let entry = try fixture.store.past.trash(in: fixture.note).first(where: {
                $0.stem == Stem(name)
            })
        else { return "restore nothing" }
        _ = try fixture.write(.restore) { transaction throws(RecordError) in
            try transaction.records.restore(entry.id)
        }
        model.restore(name)
        return "restore \(name)"
    }

    // MARK: Elsewhere

    private func editThere(_ name: String) throws -> String {
        var values = Values()
        if let record = server.records[name] {
            values = record.values
        } else if try model.local[name] != nil || pending(name) != nil {
            // A record that is made on both sides has no right result.
            return "make nothing there"
        }
        values.theirs = Int64(100 + random.below(6))
        server.put(name, values, stamp: FieldStamp(at: fixture.clock.now))
        return "edit \(name) there: \(values.text)"
    }

    private func removeThere(_ name: String) -> String {
        guard random.below(2) == 0, server.records[name] != nil else { return "remove nothing" }
        server.remove(name)
        return "remove \(name) there"
    }

    // MARK: Exchange

    private func rows() throws -> [OutboxRow] { try fixture.outbox() }

    private func pending(_ name: String) throws -> OutboxRow.Operation? {
        let rows = try rows().filter { $0.name == RecordName(name) }
        return (rows.first { $0.batch == nil } ?? rows.last)?.operation
    }

    @discardableResult
    private func fetch(limit: Int) throws -> String {
        // An engine mostly reads no news of a zone while the answer to a request is open. Where it
        // does, the answer tells of a state that is known to be old.
        if flights.contains(where: { $0.arrival != nil }), random.below(2) == 0 {
            steps.append(try answer(mayFail: true))
        }
        let (news, isLast) = server.news(after: token, limit: limit)
        let isPass = try fixture.store.syncState.hasFeedPass(fixture.zone.id)
        var known: [String] = []
        for name in model.local.keys where isPass && isLast && server.records[name] == nil {
            let id = try #require(try fixture.record(name)?.id)
            if try fixture.store.meta(of: id)?.changeTag != "" { known.append(name) }
        }
        var changes: [RemoteChange] = []
        for (name, position) in news {
            token = position
            changes.append(try tell(name))
        }
        for name in known.sorted() where !news.contains(where: { $0.name == name }) {
            model.tell(name, nil, pending: try pending(name))
        }
        try fixture.apply(fixture.page(changes, token: "\(token)", isLast: isLast))
        if isLast { isAnswerLost = false }
        let stored = try fixture.token()
        expect(stored == "\(token)", "token \(stored ?? "-")")
        return "fetch \(news.map(\.name))\(isLast ? " to the end" : "")"
    }

    /// The report of the server about a record now. The model hears it before the store.
    private func tell(_ name: String) throws -> RemoteChange {
        let record = server.records[name]
        model.tell(name, record?.values, pending: try pending(name))
        guard let record else { return StoreFixture.gone(name) }
        var change = RemoteChange(
            type: RecordTypeName("Note"), name: RecordName(name),
            operation: .upsert(
                record.values.fields, parent: record.values.parent.map { RecordName($0) }),
            changeTag: record.tag)
        if let stamp = record.stamp { change.stamps = [FieldName("theirs"): stamp] }
        return change
    }

    private func fetchAll() throws { while try !fetch(limit: 2).hasSuffix("to the end") {} }

    private func restart() throws -> String {
        server.forgetDeletions()
        token = 0
        try fixture.feed { (feed) throws(RecordError) in
            try feed.restartFeed(of: self.fixture.zone.id)
        }
        return "restart the feed"
    }

    private func reopen() throws -> String {
        try fixture.reopen()
        isAnswerLost = isAnswerLost || flights.contains { $0.arrival != nil }
        flights = []
        return "reopen"
    }

    private func retry() throws -> String {
        try fixture.store.syncState.retryParked()
        try expect(try rows().allSatisfy { $0.error == nil }, "something stays refused")
        return "retry"
    }

    private func claim(limit: Int) throws -> String {
        // An engine that got no answer asks for the news before it sends more.
        if isAnswerLost { try fetchAll() }
        let ready = try readyNames()
        let before = try rows()
        let claims = try fixture.claim(ClaimLimits(records: limit))
        let claimed = claims.map(\.row.name.description)
        expect(
            claimed.count == min(limit, ready.count) && ready.isSuperset(of: claimed),
            "claimed \(claimed) of \(ready.sorted())")
        for (index, claim) in claims.enumerated() {
            let name = claimed[index]
            expect(
                claim.document.map(Values.init)
                    == (claim.isDelete ? nil : model.local[name]?.values),
                "\(name) is sent otherwise")
            expect(claim.row.batch == claims.first?.row.batch, "two batches")
            expect(
                claim.row.operation != .create || claim.base == nil,
                "\(name) is made over \(claim.base?.changeTag ?? "")")
            guard let parent = claim.document?.parent?.description else { continue }
            let isMade = before.contains {
                $0.name == RecordName(parent) && $0.operation == .create
            }
            expect(!isMade || claimed[..<index].contains(parent), "\(name) before \(parent)")
        }
        flights += claims.map { ($0, nil) }
        return "claim \(claimed)"
    }

    /// The names whose changes can be sent: nobody sends or has refused them, and all parents that
    /// are new can be sent too.
    private func readyNames() throws -> Set<String> {
        let rows = try rows()
        func isReady(_ name: String) -> Bool {
            let own = rows.filter { $0.name == RecordName(name) }
            guard own.count == 1, let row = own.first, row.batch == nil, row.error == nil else {
                return false
            }
            guard row.operation != .delete, let parent = model.local[name]?.values.parent else {
                return true
            }
            let isMade = rows.contains {
                $0.name == RecordName(parent) && $0.operation == .create
            }
            return !isMade || isReady(parent)
        }
        return Set(names.filter(isReady))
    }

    /// Requests reach the server, which answers later.
    private func arrive() -> String {
        for index in flights.indices where flights[index].arrival == nil {
            flights[index].arrival = take(flights[index].claim)
        }
        return "arrive \(flights.map(\.claim.row.name.description))"
    }

    private func answer(mayFail: Bool) throws -> String {
        var told: [String] = []
        var conflicts: [String] = []
        for (claim, arrival) in flights {
            let name = claim.row.name.description
            let fate = mayFail ? random.below(5) : 4
            guard arrival != nil || fate > 1 else {
                try fixture.fail(claim, error: fate == 0 ? nil : "refused")
                told.append("\(name) \(fate == 0 ? "not sent" : "refused")")
                continue
            }
            switch arrival ?? take(claim) {
            case .conflict:
                try fixture.fail(claim)
                conflicts.append(name)
                told.append("\(name) in conflict")
            case .taken where fate == 2:
                isAnswerLost = true
                try fixture.fail(claim)
                told.append("\(name) lost")
            case .taken(let tag):
                try fixture.complete(claim, tag: tag)
                told.append("\(name) done")
            }
        }
        flights = []
        // After a conflict an engine asks for the record.
        for name in conflicts { try fixture.apply(fixture.page([try tell(name)])) }
        return "answer \(told)"
    }

    /// The answer of a server that compares tags.
    private func take(_ claim: OutboxClaim) -> Arrival {
        let name = claim.row.name.description
        let there = server.records[name]
        guard let document = claim.document else {
            guard let there else { return .taken(tag: "") }
            guard there.tag == claim.base?.changeTag else { return .conflict }
            server.remove(name)
            return .taken(tag: "")
        }
        guard there?.tag == claim.base?.changeTag,
            (there == nil) == (claim.row.operation == .create)
        else { return .conflict }
        let values = Values(document)
        if let there {
            expect(values.theirs == there.values.theirs, "an edit of \(name) there is lost")
        }
        let stamp = there?.stamp ?? claim.stamps[FieldName("theirs")]
        server.put(name, values, stamp: stamp)
        return .taken(tag: server.records[name]?.tag ?? "")
    }

    // MARK: Comparison

    private func expectModel() throws {
        try expect(fixture.store)
        let rows = try rows()
        expect(rows.map(\.id) == rows.map(\.id).sorted(), "the outbox is out of order")
        for name in names {
            let own = rows.filter { $0.name == RecordName(name) }
            expect(own.count { $0.batch == nil } <= 1, "\(name) waits twice")
            expect(own.count { $0.batch != nil } <= 1, "\(name) is sent twice")
            guard let id = try fixture.record(name)?.id, model.shown[name] != nil else { continue }
            let acknowledged = try fixture.store.acknowledged(
                RecordName(name), in: fixture.zone.id)
            let isSent = acknowledged.map { Values($0.document) } == model.shown[name]
            let isOut = own.contains { $0.operation != .delete }
            expect(isSent || isOut, "\(name) would never be sent")
            let isPending = try fixture.store.meta(of: id)?.isPending
            expect(isPending == !own.isEmpty, "\(name) is pending: \(isPending == true)")
        }
        guard random.below(10) == 0 else { return }
        let problems = try fixture.store.upkeep.integrityCheck(deep: true)
        expect(problems.isEmpty, "\(problems)")
        try expectKilled()
    }

    private func expect(_ store: RecordStore) throws {
        let schema = try store.schema(of: RecordTypeName("Note"))
        var shown: [String: Values] = [:]
        try store.withRecords(in: fixture.note) { (entry, text) throws(RecordError) in
            shown["\(entry.stem)"] = Values(try RecordDocument(parsing: text, schema: schema))
        }
        let trash = try store.past.trash(in: fixture.note).map(\.stem.description)
        for name in names {
            let (here, right) = (shown[name], model.shown[name])
            expect(
                here == right, "\(name) shows \(here?.text ?? "-") and not \(right?.text ?? "-")")
            let state = try store.record(fixture.note, Stem(name))?.state
            expect(
                (state == .waitingDelete) == model.local[name]?.isWaiting ?? false,
                "\(name) is \(String(describing: state))")
            let trashed = trash.count { $0 == name }
            expect(trashed == model.trash[name]?.count ?? 0, "\(trashed) of \(name) in the trash")
            let versions = try store.past.history(of: RecordName(name), in: fixture.zone.id).count
            expect(versions == model.versions[name] ?? 0, "\(versions) versions of \(name)")
        }
        let counts = try store.syncState.counts()
        expect(
            counts.records == model.shown.count && counts.trash == trash.count, "wrong figures")
        try expectFound(store, schema)
    }

    /// Search and query find what a look at every record finds.
    private func expectFound(_ store: RecordStore, _ schema: RecordSchema) throws {
        for word in words {
            let found = try store.index.search(fixture.zone.id, words: word)
            expectFound(found, word) { $0.word == word }
        }
        for (query, isRight) in [
            ("mine>2", { ($0.mine ?? 0) > 2 }), ("mine=1", { $0.mine == 1 }),
            ("word=beta", { $0.word == "beta" }),
        ] as [(String, (Values) -> Bool)] {
            let expression = try QueryExpression(parsing: Array(query.utf8), schema: schema)
            let found = try store.index.query(fixture.note, expression)
            expectFound(found, query, isRight)
        }
    }

    private func expectFound(
        _ found: [RecordEntry], _ what: String, _ isRight: (Values) -> Bool
    ) {
        let found = found.map(\.stem.description).sorted()
        let right = model.shown.filter { isRight($0.value) }.keys.sorted()
        expect(found == right, "\(what) finds \(found) and not \(right)")
    }

    /// A kill at this moment: what is on the disk opens with everything, and nothing on its way.
    private func expectKilled() throws {
        let copy = temporaryDirectory()
        try FileManager.default.copyItem(atPath: fixture.directory, toPath: copy)
        let store = try RecordStore.open(
            directory: copy, options: StoreOptions(clock: fixture.clock))
        try expect(store)
        let rows = try store.syncState.outbox(limit: 100)
        expect(rows.allSatisfy { $0.batch == nil }, "something is on its way after a kill")
        let problems = try store.upkeep.integrityCheck(deep: true)
        expect(problems.isEmpty, "after a kill: \(problems)")
        try store.close()
        try FileManager.default.removeItem(atPath: copy)
    }

    /// Sends and fetches until nothing is left; then both sides have the same.
    func settle() throws {
        steps.append(try finalize())
        for _ in 0..<6 {
            steps.append(try answer(mayFail: false))
            try fetchAll()
            steps.append(try retry())
            steps.append(try claim(limit: 200))
        }
        try expectModel()
        let rest = try fixture.pending()
        expect(rest.isEmpty, "\(rest) is left")
        expect(server.records.mapValues(\.values) == model.shown, "the server has something else")
    }
}
