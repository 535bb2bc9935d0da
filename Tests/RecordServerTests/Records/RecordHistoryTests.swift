import RecordModel
import RecordServerCore
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

/// Random histories against a simple model: what a feed replays, what lookups say and what the
/// answers said must be one and the same, for the owner and for a participant.
@Suite("Random histories of records") struct RecordHistoryTests {
    @Test(
        "feeds, lookups and answers agree after every step",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func agrees(seed: UInt64) async throws {
        var history = try await RandomHistory(seed: seed)
        for step in 0..<120 {
            try await history.step()
            if step % 8 == 7 { try await history.check() }
        }
        try await history.check()
    }
}

private struct RandomHistory {
    /// What a client keeps: the records by name, and the token that they are from.
    struct Replica {
        var records: [String: JSONValue] = [:]
        var token: Text?
    }

    private let server: TestServer
    private var random: SeededRandom
    private var owner = Replica()
    private var guest = Replica()
    private var sharedRoot: String?
    /// The names that were ever a shared root: the deletion of one leaves its children where they are.
    private var sharedRoots: Set<String> = []
    private let names = (0..<14).map { "n-\($0)" }

    init(seed: UInt64) async throws {
        random = SeededRandom(seed: seed)
        // Half of the histories at two instances in turn.
        server = try await TestServer(seed % 2 == 0 ? .twoInstances : .router)
        try await server.makeZone("Z")
    }

    private mutating func pick() -> String { names[Int(random.next() % UInt64(names.count))] }

    private mutating func chance(_ percent: UInt64) -> Bool { random.next() % 100 < percent }

    mutating func step() async throws {
        if chance(6) {
            try await toggleShare()
            return
        }
        var used: Set<String> = []
        var operations: [JSONValue] = []
        for _ in 0...(random.next() % 4) {
            let name = pick()
            guard used.insert(name).inserted else { continue }
            operations.append(operation(on: name))
        }
        let isGuest = sharedRoot != nil && chance(35)
        var body: [JSONMember] = [
            JSONMember(key: "zoneID", value: TestServer.zone("Z", of: isGuest ? .alice : nil)),
            JSONMember(key: "operations", value: .array(operations)),
        ]
        if chance(50) { body.append(JSONMember(key: "atomic", value: false)) }
        let answer = try await server.call(
            .recordsModify, isGuest ? .shared : .private, as: isGuest ? .bob : .alice,
            .object(body))
        try await checkAnswer(answer, isGuest: isGuest, isAtomic: body.count == 2)
    }

    private mutating func operation(on name: String) -> JSONValue {
        if chance(25) { return delete(name) }
        let field: JSONValue = ["v": number(Int64(random.next() % 1_000))]
        if chance(12) {
            return RecordServerTests.operation("forceUpdate", name, field, ["parent": .null])
        }
        if chance(40) { return force(name, field, parent: pick()) }
        if chance(20) {
            let link: JSONValue = ["r": reference(pick(), chance(50) ? "DELETE_SELF" : "VALIDATE")]
            return force(name, link)
        }
        return force(name, field)
    }

    /// What was saved is there, and a failed atomic batch changed nothing.
    private func checkAnswer(
        _ answer: TestServer.Answer, isGuest: Bool, isAtomic: Bool
    ) async throws {
        guard answer.status == 200 else {
            #expect(isGuest && answer.code == "ZONE_NOT_FOUND", "\(answer.text)")
            return
        }
        if isAtomic, answer.results.contains("ATOMIC_ERROR") {
            #expect(!answer.results.contains("saved") && !answer.results.contains("deleted"))
        }
        for (record, result) in zip(answer.records, answer.results) where result == "saved" {
            let name = record["recordName"]?.string?.string ?? ""
            let stored = try await server.lookup("Z", name)
            #expect(stored.records.first?["recordChangeTag"] == record["recordChangeTag"])
            #expect(stored.records.first?["fields"] == record["fields"])
        }
    }

    private mutating func toggleShare() async throws {
        if let root = sharedRoot {
            try await server.modify("Z", delete("share-" + root))
            sharedRoot = nil
            return
        }
        let root = pick()
        let there = try await server.lookup("Z", root)
        guard there.results == ["saved"] else { return }
        let share = TestServer.shareOperation(root, with: [.bob: "READ_WRITE"])
        let made = try await server.modify("Z", share, force(root))
        guard let guid = made.records.first?["shortGUID"]?.string else { return }
        try await server.accept(guid, as: .bob)
        sharedRoot = root
        sharedRoots.insert(root)
    }

    mutating func check() async throws {
        #expect(try QuotaSums.check(server.storage) >= 1)
        owner = try await pulled(owner, of: nil, as: .alice)
        let whole = try await server.allChanges("Z")
        #expect(byName(whole.records) == owner.records)
        for name in names {
            let found = try await server.lookup("Z", name)
            #expect(found.results == [owner.records[name] == nil ? "NOT_FOUND" : "saved"])
        }
        checkClosure()
        try await checkGuest()
    }

    /// Every parent is there but deleted roots of shares, and what hangs on a shared root is what the participant sees.
    private func checkClosure() {
        for record in owner.records.values {
            guard let parent = record["parent"]?["recordName"]?.string?.string else { continue }
            #expect(
                owner.records[parent] != nil || sharedRoots.contains(parent),
                "\(parent) is gone, its child is not")
        }
    }

    private mutating func checkGuest() async throws {
        let zones = try await server.call(.zonesList, .shared, as: .bob)
        guard zones.json["zones"]?.array?.isEmpty == false else {
            guest = Replica()
            return
        }
        guest = try await pulled(guest, of: .alice, as: .bob)
        let share = owner.records.values.first { $0["recordType"] == "cloudkit.share" }
        let shareName = share?["recordName"]?.string?.string ?? ""
        var expected: Set<String> = [shareName]
        let root = shareName.split(separator: "-", maxSplits: 1).last.map(String.init) ?? ""
        for name in owner.records.keys where isBelow(name, root) { expected.insert(name) }
        #expect(Set(guest.records.keys) == expected)
        let whole = try await server.allChanges("Z", of: .alice, as: .bob)
        #expect(
            byName(whole.records).mapValues { $0["recordChangeTag"] }
                == guest.records.mapValues { $0["recordChangeTag"] })
    }

    private func isBelow(_ name: String, _ root: String) -> Bool {
        var at: String? = name
        while let current = at {
            if current == root { return true }
            at = owner.records[current]?["parent"]?["recordName"]?.string?.string
        }
        return false
    }

    /// As a client does: page by page from the last token, from nothing when that has expired.
    private mutating func pulled(
        _ before: Replica, of person: TestServer.Person?, as reader: TestServer.Person
    ) async throws -> Replica {
        var replica = before
        while true {
            let limit = Int64(1 + random.next() % 5)
            let page = try await server.changes(
                "Z", of: person, as: reader, since: replica.token, limit: limit)
            if page.code == "CHANGE_TOKEN_EXPIRED" {
                replica = Replica()
                continue
            }
            #expect(page.code == nil)
            for record in page.records {
                let name = record["recordName"]?.string?.string ?? ""
                replica.records[name] = Self.present(record)
            }
            replica.token = page.token
            if !page.moreComing { return replica }
        }
    }

    private static func present(_ record: JSONValue) -> JSONValue? {
        record["deleted"] == true ? Optional<JSONValue>.none : record
    }

    private func byName(_ records: [JSONValue]) -> [String: JSONValue] {
        var found: [String: JSONValue] = [:]
        for record in records {
            let name = record["recordName"]?.string?.string ?? ""
            #expect(found[name] == nil, "\(name) came twice in one fetch")
            found[name] = Self.present(record)
        }
        return found
    }
}
