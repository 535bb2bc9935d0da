import RecordModel
import RecordStore
import RecordStoreSync
import TestSupport
import Testing

/// Random people of a share and random invitations, as the server reports them: what is news, and
/// what is not.
@Suite struct ShareNewsWalkTests {
    @Test(
        "who came, left, declined and asked since the last report is news once, and nothing else is",
        arguments: LongForm.seeds(12, of: 400))
    func people(_ seed: Int) throws {
        let walk = try PeopleWalk(seed: UInt64(seed))
        try walk.take(50, seed: seed)
    }

    @Test(
        "an invitation is news when it comes, and not when older ones show up behind it",
        arguments: LongForm.seeds(12, of: 400))
    func invitations(_ seed: Int) throws {
        let walk = try InvitationWalk(seed: UInt64(seed))
        try walk.take(50, seed: seed)
    }
}

private final class PeopleWalk: StoreWalk {
    private enum Status: String, CaseIterable { case invited = "INVITED", accepted = "ACCEPTED" }

    private let fixture: StoreFixture
    private let zone: ZoneID
    private var random: SeededRandom
    private let people = ["ann@h", "bob", "_cid"]
    private var participants: [String: Status] = [:]
    private var requests: Set<String> = []
    private var isKnown = false
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        zone = try fixture.sharedZone().zone.id
        random = SeededRandom(seed: seed)
    }

    /// A person has an address, a name, a user, or several of these: the first is told.
    private func json(_ person: String) -> String {
        let key = person.contains("@") ? "address" : person.hasPrefix("_") ? "user" : "name"
        let more = key == "address" ? ",\"name\":\"Ann\",\"user\":\"_a\"" : ""
        return "\"\(key)\":\"\(person)\"\(more)"
    }

    private var text: String {
        let all = participants.sorted { $0.key < $1.key }.map {
            "{\(json($0.key)),\"status\":\"\($0.value.rawValue)\"}"
        }
        let asking = requests.sorted().map { "{\(json($0))}" }
        return "{\"participants\":[\(all.joined(separator: ","))],"
            + "\"requests\":[\(asking.joined(separator: ","))]}"
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        let (before, asked) = (participants, requests)
        for _ in 0...random.below(2) { change() }
        if random.below(8) == 0 { try fixture.reopen() }
        _ = fixture.changes()
        if random.below(10) == 0, isKnown {
            try end()
            return
        }
        let share = Share(
            name: RecordName("s"), root: RecordName("top"), permission: .readWrite,
            text: Array(text.utf8))
        // An answer to this user's own change is no news.
        let isOwn = random.below(5) == 0
        if isOwn {
            try fixture.write(.sync) { transaction throws(RecordError) in
                try transaction.sharing.noteShare(share, of: self.zone)
            }
        } else {
            try fixture.apply(fixture.page([], shares: [share], in: zone))
        }
        steps.append("\(isOwn ? "own change: " : "")\(text)")
        let isSilent = isOwn || !isKnown
        expect(
            isSilent ? [] : news(before, asked),
            isChanged: before != participants || asked != requests)
        isKnown = true
    }

    private func change() {
        let person = random.pick(people)
        if random.below(3) == 0 {
            if requests.remove(person) == nil { requests.insert(person) }
        } else {
            participants[person] = random.pick(Status.allCases + [nil])
        }
    }

    /// The share ends, and is made again some time later: its first report is no news.
    private func end() throws {
        try fixture.apply(fixture.page([StoreFixture.gone("s")], in: zone))
        if try !fixture.store.sharing.shares(in: zone).isEmpty { differences.append("it stays") }
        if fixture.changes().contains(where: { !$0.shareNews.isEmpty }) {
            differences.append("the end of a share is news of people")
        }
        steps.append("end")
        isKnown = false
    }

    private func news(_ before: [String: Status], _ asked: Set<String>) -> Set<String> {
        var news: Set<String> = []
        for person in people {
            switch (before[person], participants[person]) {
            case (.accepted, .accepted): break
            case (_, .accepted): news.insert("accepted \(person)")
            case (.accepted, _): news.insert("left \(person)")
            case (.invited, nil): news.insert("declined \(person)")
            default: break
            }
            if requests.contains(person), !asked.contains(person) {
                news.insert("requested \(person)")
            }
        }
        return news
    }

    private func expect(_ right: Set<String>, isChanged: Bool) {
        let changes = fixture.changes().filter { $0.kind == .share }
        let told = changes.flatMap(\.shareNews)
        let found = told.map { "\($0.kind) \($0.who)" }
        if Set(found) != right || found.count != right.count {
            differences.append("news \(found), not \(right.sorted())")
        }
        if told.contains(where: { $0.root != RecordName("top") }) {
            differences.append("news of another record")
        }
        // Nobody looks at a share again that is as before.
        if isKnown, changes.isEmpty == isChanged { differences.append("\(changes.count) changes") }
    }
}

private final class InvitationWalk: StoreWalk {
    private let fixture: StoreFixture
    private var random: SeededRandom
    /// All invitations that wait at the server, newest first, and those that are known here.
    private var waiting: [String] = []
    private var known: [String] = []
    private var count = 0
    private(set) var steps: [String] = []
    private(set) var differences: [String] = []
    /// The number of invitations in one answer of the server.
    private let most = 3

    init(seed: UInt64) throws {
        fixture = try StoreFixture()
        random = SeededRandom(seed: seed)
    }

    private func invitation(_ id: String) -> Invitation {
        Invitation(
            id: Text(id),
            json: [
                "url": .string(Text("https://h/\(id)")), "title": .string(Text("Box \(id)")),
                "owner": ["name": .string(Text("owner of \(id)"))],
            ])
    }

    func next() throws {
        fixture.clock.advance(.seconds(1))
        _ = fixture.changes()
        switch random.below(6) {
        case 0, 1:
            for _ in 0...random.below(2) {
                count += 1
                waiting.insert("i\(count)", at: 0)
            }
            steps.append("invite to \(waiting)")
        case 2:
            guard !waiting.isEmpty else { return }
            waiting.remove(at: random.below(waiting.count))
            steps.append("withdraw all but \(waiting)")
        case 3: try answer()
        case 4: try fixture.reopen()
        default: try report()
        }
        let listed = try fixture.store.sharing.invitations()
        if listed != known.map(invitation) { differences.append("\(listed.map(\.id)) of \(known)") }
    }

    private func report() throws {
        let told = Array(waiting.prefix(most))
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.sharing.setInvitations(told.map { self.invitation($0) })
        }
        let new = told.prefix { !known.contains($0) }
        expectNews(Array(new))
        known = told
        steps.append("told of \(told)")
    }

    /// This user accepts or declines one, perhaps one that is not known any more.
    private func answer() throws {
        let id = random.pick(known + ["i0"])
        try fixture.write(.sync) { transaction throws(RecordError) in
            try transaction.sharing.removeInvitation(Text(id))
        }
        let heard = fixture.changes().filter { $0.kind == .share }
        if heard.count != (known.contains(id) ? 1 : 0)
            || heard.contains(where: { !$0.shareNews.isEmpty })
        {
            differences.append("the answer to \(id) is told as \(heard)")
        }
        known.removeAll { $0 == id }
        waiting.removeAll { $0 == id }
        steps.append("answer \(id)")
    }

    private func expectNews(_ right: [String]) {
        let news = fixture.changes().flatMap(\.shareNews)
        if news.compactMap({ $0.invitation?.id.string }) != right {
            differences.append("news \(news), not \(right)")
        }
        if news.contains(where: {
            $0.kind != .invited || $0.who != "owner of \($0.invitation?.id.string ?? "")"
        }) {
            differences.append("news of nobody: \(news)")
        }
    }
}
