import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// The store's outgoing changes against a plain server whose answers get lost, fail and conflict:
/// whatever happened, both are equal once all was sent and fetched.
@Suite struct ConvergenceTests {
    @Test("edits here and there in random order end in the same records", arguments: 1...40)
    func converges(_ seed: Int) throws {
        let walk = try Exchange(seed: UInt64(seed))
        for _ in 1...200 { try walk.step() }
        try walk.settle()
        try walk.expectEqual("seed \(seed)")
    }
}

private final class Exchange {
    struct ServerRecord: Equatable {
        var values: [String: Int64]
        var tag: String
    }

    private let fixture: StoreFixture
    private var random: SeededRandom
    private let names = ["a", "b", "c", "d"]
    private var server: [String: ServerRecord] = [:]
    /// Names that have changed on the server and were not fetched since.
    private var unfetched: Set<String> = []
    /// Changes on their way.
    private var flights: [OutboxClaim] = []
    private var lastTag = 0

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func step() throws {
        let name = names[random.below(names.count)]
        switch random.below(10) {
        case 0, 1, 2: try editHere(name)
        case 3:
            if let entry = try fixture.record(name) { try fixture.beginDelete(entry.id) }
        case 4:
            _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        case 5: editThere(name)
        case 6:
            if random.below(3) == 0, server.removeValue(forKey: name) != nil {
                unfetched.insert(name)
            }
        case 7: try fetch()
        case 8: try take()
        default: try answer(mayFail: true)
        }
        if random.below(20) == 0 { try fixture.expectSound() }
    }

    /// Sends and fetches until nothing is left.
    func settle() throws {
        _ = try fixture.store.upkeep.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
        for _ in 0..<20 {
            try answer(mayFail: false)
            try fetch()
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.outbox.retryOutbox()
            }
            try take()
            if flights.isEmpty && unfetched.isEmpty { return }
        }
    }

    func expectEqual(_ comment: String) throws {
        try fixture.expectSound()
        #expect(try fixture.pending() == [], "\(comment)")
        for name in names {
            #expect(try valuesHere(name) == server[name]?.values, "\(comment): \(name)")
            guard let id = try fixture.record(name)?.id else { continue }
            #expect(try fixture.store.meta(of: id)?.changeTag == server[name]?.tag, "\(comment)")
        }
    }

    // MARK: Edits

    private func editHere(_ name: String) throws {
        var values = try valuesHere(name) ?? [:]
        values[["n", "m"][random.below(2)]] = Int64(random.below(50))
        let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        try fixture.save(name, "{\(members.joined(separator: ","))}")
    }

    private func editThere(_ name: String) {
        var values = server[name]?.values ?? [:]
        values[["n", "m"][random.below(2)]] = Int64(50 + random.below(50))
        server[name] = ServerRecord(values: values, tag: nextTag())
        unfetched.insert(name)
    }

    private func nextTag() -> String {
        lastTag += 1
        return "t\(lastTag)"
    }

    private func valuesHere(_ name: String) throws -> [String: Int64]? {
        guard let entry = try fixture.record(name), entry.state == .saved,
            let text = try fixture.store.savedText(of: entry.id)
        else { return nil }
        return try values(text)
    }

    private func values(_ text: [UInt8]) throws -> [String: Int64] {
        let schema = try fixture.store.schema(of: RecordTypeName("Note"))
        var values: [String: Int64] = [:]
        for field in try RecordDocument(parsing: text, schema: schema).fields {
            guard case .int64(let number) = field.value else { continue }
            values[field.name.description] = number
        }
        return values
    }

    // MARK: Exchange

    private func fetch() throws {
        for name in unfetched.sorted() {
            if let record = server[name] {
                let fields = record.values.sorted { $0.key < $1.key }.map {
                    RecordField(name: FieldName($0.key), value: .int64($0.value))
                }
                let change = RemoteChange(
                    type: RecordTypeName("Note"), name: RecordName(name),
                    operation: .upsert(fields, parent: nil), changeTag: record.tag)
                try fixture.write(.sync) { transaction throws(RecordError) in
                    _ = try transaction.feed.applyRemote(change, in: fixture.zone.id)
                }
            } else {
                try fixture.remoteDelete(name)
            }
        }
        unfetched = []
    }

    private func take() throws { flights += try fixture.claim() }

    private func answer(mayFail: Bool) throws {
        for flight in flights {
            let name = flight.row.name.description
            if mayFail, random.below(4) == 0 {
                try fixture.fail(flight)
                continue
            }
            guard try apply(flight, name) else {
                // A conflict: the engine fetches before it sends again.
                unfetched.insert(name)
                try fixture.fail(flight)
                continue
            }
            unfetched.insert(name)
            // The answer gets lost.
            if mayFail, random.below(4) == 0 {
                try fixture.fail(flight)
                continue
            }
            try fixture.complete(flight, tag: server[name]?.tag ?? "")
        }
        flights = []
    }

    /// What a server does that compares tags, of deletes too; false for a conflict.
    private func apply(_ flight: OutboxClaim, _ name: String) throws -> Bool {
        guard let document = flight.document else {
            guard let there = server[name] else { return true }
            guard there.tag == flight.base?.changeTag else { return false }
            server[name] = nil
            return true
        }
        guard server[name]?.tag == flight.base?.changeTag else { return false }
        server[name] = ServerRecord(values: try values(document.text), tag: nextTag())
        return true
    }
}
