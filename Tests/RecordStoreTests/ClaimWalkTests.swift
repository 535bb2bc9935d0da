import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random outboxes of records that name each other, of which some changes are on their way and some
/// are parked: a claim takes all that may go, in an order that the server can follow.
@Suite struct ClaimWalkTests {
    @Test(
        "a claim takes what may go, what it needs first, and the oldest before the youngest",
        arguments: LongForm.seeds(10, of: 300))
    func walk(_ seed: Int) throws {
        let walk = try ClaimWalk(seed: UInt64(seed))
        for _ in 1...60 where walk.differences.isEmpty { try walk.next() }
        if walk.differences.isEmpty { try walk.drain() }
        #expect(walk.differences == [], "seed \(seed), after \(walk.steps.joined(separator: "; "))")
    }
}

private final class ClaimWalk {
    private let fixture: StoreFixture
    private var random: SeededRandom
    private let names = (0..<14).map { "r\($0)" }
    private var needs: [String: Set<String>] = [:]
    private var flights: [OutboxClaim] = []
    private var texts = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let name = random.pick(names)
        steps.append(try step(name))
    }

    private func step(_ name: String) throws -> String {
        switch random.below(14) {
        case 0, 1, 2, 3, 4: return try save(name)
        case 12, 13:
            guard let id = try fixture.record(name)?.id else { return "nothing" }
            try fixture.delete(id)
            return "delete \(name)"
        case 5, 6, 7: return try claim()
        case 8: return try answer { _ in nil }
        case 9, 10: return try answer { $0 == 0 ? "not now" : "no space" }
        default:
            try fixture.write { transaction throws(RecordError) in
                try transaction.outbox.retryOutbox()
            }
            return "retry"
        }
    }

    private func save(_ name: String) throws -> String {
        texts += 1
        var named: Set<String> = []
        var members = ["\"n\":\(texts)"]
        if random.below(2) == 0 {
            let parent = random.pick(names)
            if parent != name {
                members.append("\"$parent\":\"\(parent)\"")
                named.insert(parent)
            }
        }
        let targets = (0..<random.below(3)).map { _ in random.pick(names) }
        if !targets.isEmpty {
            members.append(
                "\"to\":[\(targets.map { "{\"$ref\":\"\($0)\"}" }.joined(separator: ","))]")
            named.formUnion(targets)
        }
        members.append("\"s\":\"\(String(repeating: "x", count: random.below(3) * 40))\"")
        do throws(RecordError) {
            try fixture.save(name, "{\(members.joined(separator: ","))}")
        } catch {
            return "refused \(name): \(error)"
        }
        needs[name] = named
        return "save \(name) that needs \(named.sorted())"
    }

    /// Takes changes and compares them with the model, which sees the outbox of before.
    private func claim() throws -> String {
        let rows = try fixture.outbox()
        var limits = ClaimLimits()
        if random.below(2) == 0 {
            limits = ClaimLimits(records: random.below(4) + 1, bytes: (random.below(4) + 1) * 120)
        }
        var exceptions = ClaimExceptions()
        if random.below(4) == 0 {
            exceptions.creates = random.below(2) == 0
            exceptions.rows = Set(rows.filter { _ in random.below(4) == 0 }.map(\.id))
        }
        let model = ClaimModel(rows, needs: needs, except: exceptions)
        let claims = try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(
                in: self.fixture.zone.id, limits: limits, except: exceptions)
        }
        let claimed = claims.map(\.row.id)
        let sendable = model.sendable
        if !sendable.isSuperset(of: claimed) {
            differences.append("\(Set(claimed).subtracting(sendable)) go too early")
        }
        if limits == ClaimLimits(), claimed.count < sendable.count {
            differences.append("\(sendable.subtracting(claimed)) stay")
        }
        if claimed.isEmpty != sendable.isEmpty { differences.append("no progress") }
        if Set(claimed).count < claimed.count { differences.append("one change twice") }
        let bytes = claims.reduce(0) { $0 + $1.bytes }
        if claims.count > limits.records || (claims.count > 1 && bytes > limits.bytes) {
            differences.append("\(claims.count) records of \(bytes) bytes for \(limits)")
        }
        differences += model.disorder(claimed)
        flights += claims
        return "claim \(claims.map { "\($0.row.name) \($0.row.operation)" })"
    }

    /// Answers one change, or says why it was refused.
    private func answer(_ reason: (Int) -> String?) throws -> String {
        guard !flights.isEmpty else { return "no answer" }
        let claim = flights.remove(at: random.below(flights.count))
        if let reason = reason(random.below(3)) {
            try fixture.fail(claim, error: reason == "not now" ? nil : reason)
            return "\(claim.row.name) \(reason)"
        }
        try fixture.complete(claim, tag: "t\(steps.count)")
        return "\(claim.row.name) arrived"
    }

    /// Sends everything: nothing waits for ever.
    func drain() throws {
        for _ in 0...2 * names.count {
            while !flights.isEmpty { steps.append(try answer { _ in nil }) }
            try fixture.write { transaction throws(RecordError) in
                try transaction.outbox.retryOutbox()
            }
            flights = try fixture.claim()
            steps.append("claim \(flights.map(\.row.name))")
        }
        if try !fixture.pending().isEmpty { differences.append("\(try fixture.pending()) stay") }
        try fixture.expectSound()
    }
}
