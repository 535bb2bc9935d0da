import RecordModel
import RecordStore
import RecordStoreSync
import Testing

/// Shares as the server reports them, what they permit here, and what is news of them.
@Suite struct ShareTests {
    private let fixture: StoreFixture
    private let theirs: (zone: ZoneInfo, note: TypeID)

    init() throws {
        fixture = try StoreFixture()
        theirs = try fixture.sharedZone()
    }

    private func share(
        _ name: String, of root: String? = nil, _ permission: ZoneInfo.Permission = .readWrite,
        _ text: String = "{}"
    ) -> Share {
        Share(
            name: RecordName(name), root: root.map { RecordName($0) }, permission: permission,
            text: Array(text.utf8))
    }

    private func apply(_ shares: [Share] = [], _ changes: [RemoteChange] = []) throws {
        try fixture.apply(fixture.page(changes, shares: shares, in: theirs.zone.id))
    }

    private func permission() throws -> ZoneInfo.Permission? {
        try fixture.store.zones(in: .shared).first?.permission
    }

    @Test(
        "a zone permits what its share does, and what its records' shares agree in",
        arguments: [
            Permits([(nil, .readWrite)], .readWrite), Permits([(nil, .readOnly)], .readOnly),
            Permits([("a", .readWrite)], .readWrite), Permits([("a", .readOnly)], .readOnly),
            Permits([("a", .readWrite), ("b", .readWrite)], .readWrite),
            Permits([("a", .readOnly), ("b", .readOnly)], .readOnly),
            Permits([("a", .readWrite), ("b", .readOnly)], .mixed),
            Permits([(nil, .readWrite), ("b", .readOnly)], .readWrite),
        ])
    func permissions(_ row: Permits) throws {
        try apply(
            row.shares.enumerated().map { share("s\($0)", of: $1.root, $1.permission) })
        #expect(try permission() == row.zone)
        let kept = try fixture.store.sharing.shares(in: theirs.zone.id)
        #expect(kept.map(\.root) == row.shares.map { $0.root.map { RecordName($0) } })
        for (root, allowed) in row.shares {
            let share = try fixture.store.sharing.share(
                of: root.map { RecordName($0) }, in: theirs.zone.id)
            #expect(share?.permission == allowed)
        }
        try apply([], row.shares.indices.map { StoreFixture.gone("s\($0)") })
        #expect(
            try permission() == .readOnly && fixture.store.sharing.shares(in: theirs.zone.id) == [])
    }

    /// `top` is for reading and `free` for writing; `low` is below `top`, `leaf` below `low`, and
    /// `own` below `leaf` a share for writing again.
    private func fill() throws {
        try apply(
            [
                share("s1", of: "top", .readOnly), share("s2", of: "free"), share("s3", of: "own"),
            ],
            [
                StoreFixture.told("top", n: 1), StoreFixture.told("free", n: 1),
                StoreFixture.told("low", n: 1, parent: "top"),
                StoreFixture.told("leaf", n: 1, parent: "low"),
                StoreFixture.told("own", n: 1, parent: "leaf"),
                StoreFixture.told("below", n: 1, parent: "own"),
                StoreFixture.told("ring", n: 1, parent: "ring2"),
                StoreFixture.told("ring2", n: 1, parent: "ring"),
            ])
    }

    @Test(
        "a record permits what the nearest shared record above it does",
        arguments: [
            ("top", false), ("low", false), ("leaf", false), ("free", true), ("own", true),
            ("below", true), ("ring", true),
        ])
    func records(_ name: String, _ mayWrite: Bool) throws {
        try fill()
        let zone = try #require(try fixture.store.zones(in: .shared).first)
        let id = try #require(try fixture.record(name, type: theirs.note)).id
        #expect(
            try fixture.store.sharing.permission(of: id, in: zone)
                == (mayWrite ? .readWrite : .readOnly))
        #expect(try fixture.store.meta(of: id)?.permission == (mayWrite ? .readWrite : .readOnly))
        let actions: [(String, (Transaction) throws(RecordError) -> Void)] = [
            (
                "save",
                { transaction throws(RecordError) in
                    let parent = try fixture.text(name, type: theirs.note) ?? ""
                    _ = try transaction.records.save(
                        text: Array(parent.replacing("1", with: "2").utf8), type: theirs.note,
                        stem: Stem(name))
                }
            ),
            (
                "check",
                { transaction throws(RecordError) in try transaction.checkWritable(id) }
            ),
            (
                "rename",
                { transaction throws(RecordError) in
                    _ = try transaction.records.rename(id, toType: theirs.note, stem: Stem("x"))
                }
            ),
            (
                "delete",
                { transaction throws(RecordError) in try transaction.records.beginDelete(id) }
            ),
        ]
        for (action, body) in actions {
            let error = failure {
                try fixture.write { transaction throws(RecordError) in
                    try body(transaction)
                    throw RecordError(.interrupted, "only tried")
                }
            }
            // Under another name it would be a new record below one that may only be read.
            let mayDo = mayWrite && (name, action) != ("own", "rename")
            #expect(error?.code == (mayDo ? .interrupted : .accessDenied), "\(action)")
        }
    }

    @Test("no record becomes the child of one that may only be read, and a new one may be made")
    func children() throws {
        try fill()
        func save(_ stem: String, below parent: String?) -> RecordError.Code? {
            let text = parent.map { "{\"$parent\":\"\($0)\"}" } ?? "{}"
            return failure { try fixture.save(stem, text, type: theirs.note) }?.code
        }
        #expect(save("new", below: "leaf") == .accessDenied)
        #expect(save("free", below: nil) == nil)
        #expect(save("free", below: "low") == nil, "a root is shared wherever it hangs")
        #expect(save("new", below: "below") == nil)
        #expect(save("new", below: nil) == nil)
        #expect(save("new", below: "top") == .accessDenied)
        #expect(save("else", below: "unknown") == nil)
    }

    @Test("a place has records for reading only as long as one of them is")
    func readOnlyPlaces() throws {
        func has(_ type: TypeID?) throws -> Bool {
            let zone = try #require(try fixture.store.zones(in: .shared).first)
            return try fixture.store.sharing.hasReadOnlyRecord(in: zone, type: type)
        }
        try apply([share("s", .readOnly)])
        #expect(try has(nil) && has(theirs.note), "also while it is empty")
        try apply([share("s", .readWrite)])
        #expect(try !has(nil))
        try apply([], [StoreFixture.gone("s")])
        try fill()
        try apply([], [StoreFixture.told("t", n: 1, parent: "free", type: "Task")])
        let task = try #require(
            try fixture.store.type(theirs.zone.id, RecordTypeName("Task"))
        ).id
        #expect(try has(nil) && has(theirs.note) && !has(task))
    }

    // MARK: News

    @Test("news of a share are who came, left, declined and asks", arguments: ShareWords.news)
    func news(_ before: String, _ after: String, _ told: [String]) throws {
        try apply([share("s", of: "top", .readWrite, before)])
        _ = fixture.changes()
        try apply([share("s", of: "top", .readWrite, after)])
        let changes = fixture.changes()
        #expect(changes.map(\.kind) == (before == after ? [] : [.share]))
        let news = changes.flatMap(\.shareNews)
        #expect(news.map { "\($0.kind) \($0.who)" } == told)
        #expect(news.allSatisfy { $0.root == RecordName("top") })
    }

    @Test("the answer to this user's own change of a share is no news, nor is a first report")
    func noNews() throws {
        _ = fixture.changes()
        try apply([share("s", .readWrite, ShareWords.people(ShareWords.person("a", "ACCEPTED")))])
        let answer = share("s", .readWrite, ShareWords.people(ShareWords.person("b", "ACCEPTED")))
        try fixture.write(.sync) { transaction throws(RecordError) in
            for _ in 0..<2 { try transaction.sharing.noteShare(answer, of: theirs.zone.id) }
            for _ in 0..<2 {
                try transaction.sharing.noteShareEnded(RecordName("s"), of: theirs.zone.id)
            }
        }
        let changes = fixture.changes().filter { $0.kind == .share }
        #expect(changes.count == 3 && changes.flatMap(\.shareNews).isEmpty)
        #expect(try fixture.store.sharing.shares(in: theirs.zone.id) == [])
    }

    @Test("a share whose file is removed is known to end, also after a restart, until it is back")
    func ending() throws {
        try apply([share("s1"), share("s2", of: "top")])
        func ending() throws -> [RecordName?] {
            try fixture.store.sharing.endingShares().map(\.root)
        }
        for root in [nil, RecordName("top")] {
            try fixture.write { transaction throws(RecordError) in
                try transaction.sharing.setEnding(true, shareOf: root, in: theirs.zone.id)
            }
            try fixture.reopen()
            #expect(try ending() == [root])
            _ = fixture.changes()
            try fixture.write { transaction throws(RecordError) in
                try transaction.sharing.setEnding(false, shareOf: root, in: theirs.zone.id)
            }
            #expect(try ending() == [] && fixture.changes().map(\.kind) == [.share])
        }
    }

    /// Somebody removes the file of a share of others, and everything in it. Meanwhile the token of
    /// the zone's feed expires.
    @Test(
        "who leaves a share deletes nothing in it although its feed starts again",
        arguments: [true, false])
    func leavingOverPass(_ isStillThere: Bool) throws {
        let shares = [share("s"), share("t", of: "top", .readOnly)]
        let records = [
            StoreFixture.told("top", n: 1), StoreFixture.told("low", n: 1, parent: "top"),
        ]
        try apply(shares, records)
        try fixture.write { transaction throws(RecordError) in
            try transaction.sharing.setEnding(true, shareOf: nil, in: theirs.zone.id)
        }
        for stem in ["top", "low"] {
            try fixture.delete(try #require(try fixture.record(stem, type: theirs.note)).id)
        }
        func claimed() throws -> [String] {
            try fixture.write(.sync) { transaction throws(RecordError) in
                let claims = try transaction.outbox.claimOutbox(in: theirs.zone.id)
                try transaction.outbox.releaseOutbox(in: theirs.zone.id)
                return claims.map(\.row.name.description)
            }
        }
        func ending() throws -> [RecordName?] {
            try fixture.store.sharing.endingShares().map(\.root)
        }
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: theirs.zone.id) }
        #expect(try ending() == [nil] && claimed() == [])
        #expect(try fixture.store.sharing.shares(in: theirs.zone.id).map(\.root) == [nil])
        try fixture.reopen()
        let told = isStillThere ? shares : [shares[1]]
        try fixture.apply(
            fixture.page(records, token: "x", isLast: true, shares: told, in: theirs.zone.id))
        #expect(try ending() == (isStillThere ? [nil] : []))
        #expect(
            try fixture.store.sharing.shares(in: theirs.zone.id).map(\.name)
                == told.map(\.name))
        #expect(try claimed() == (isStillThere ? [] : ["top"]))
        #expect(try permission() == (isStillThere ? .readWrite : .readOnly))
    }

    @Test("a share whose file comes back while its feed starts again is as the feed tells")
    func backDuringPass() throws {
        try apply([share("s"), share("s2", of: "top")])
        try fixture.write { transaction throws(RecordError) in
            for root in [nil, RecordName("top")] {
                try transaction.sharing.setEnding(true, shareOf: root, in: theirs.zone.id)
            }
        }
        try fixture.feed { (feed) throws(RecordError) in try feed.restartFeed(of: theirs.zone.id) }
        try apply([share("s")])
        try fixture.write { transaction throws(RecordError) in
            for root in [nil, RecordName("top")] {
                try transaction.sharing.setEnding(false, shareOf: root, in: theirs.zone.id)
            }
        }
        #expect(try fixture.store.sharing.endingShares().isEmpty)
        #expect(
            try fixture.store.sharing.shares(in: theirs.zone.id).map(\.name.description) == ["s"])
        try fixture.apply(fixture.page([], token: "x", isLast: true, in: theirs.zone.id))
        #expect(
            try fixture.store.sharing.shares(in: theirs.zone.id).map(\.name.description) == ["s"])
    }

    @Test("who leaves a share deletes nothing in it; who leaves by its root sends that alone")
    func leaving() throws {
        try apply(
            [share("s", of: "top")],
            [StoreFixture.told("top", n: 1), StoreFixture.told("low", n: 1, parent: "top")])
        func claimed() throws -> [String] {
            let claims = try fixture.write(.sync) { transaction throws(RecordError) in
                let claims = try transaction.outbox.claimOutbox(in: theirs.zone.id)
                try transaction.outbox.releaseOutbox(in: theirs.zone.id)
                return claims
            }
            return claims.map(\.row.name.description)
        }
        try fixture.delete(try #require(try fixture.record("low", type: theirs.note)).id)
        #expect(try claimed() == ["low"])
        for (isEnding, names) in [(true, []), (false, ["low"])] {
            try fixture.write { transaction throws(RecordError) in
                try transaction.sharing.setEnding(
                    isEnding, shareOf: RecordName("top"), in: theirs.zone.id)
            }
            #expect(try claimed() == names)
        }
        try fixture.delete(try #require(try fixture.record("top", type: theirs.note)).id)
        #expect(try claimed() == ["top"])
    }
}

/// Shares of a zone, and what they permit together.
struct Permits: Sendable {
    let shares: [(root: String?, permission: ZoneInfo.Permission)]
    let zone: ZoneInfo.Permission
    init(_ shares: [(String?, ZoneInfo.Permission)], _ zone: ZoneInfo.Permission) {
        (self.shares, self.zone) = (shares.map { (root: $0.0, permission: $0.1) }, zone)
    }
}

/// Texts of shares, and what is news of the second after the first.
enum ShareWords {
    fileprivate static func people(_ list: String, requests: String = "[]") -> String {
        "{\"participants\":[\(list)],\"requests\":\(requests)}"
    }

    fileprivate static func person(_ name: String, _ status: String) -> String {
        "{\"address\":\"\(name)\",\"status\":\"\(status)\"}"
    }

    static let news: [(String, String, [String])] = [
        (people(""), people(""), []),
        (people(person("a", "INVITED")), people(person("a", "ACCEPTED")), ["accepted a"]),
        (people(""), people(person("a", "ACCEPTED")), ["accepted a"]),
        (people(person("a", "ACCEPTED")), people(""), ["left a"]),
        (people(person("a", "ACCEPTED")), people(person("a", "INVITED")), ["left a"]),
        (people(person("a", "INVITED")), people(""), ["declined a"]),
        (people(""), people(person("a", "INVITED")), []),
        (people(""), people("", requests: "[{\"name\":\"Bo\"}]"), ["requested Bo"]),
        (
            people("", requests: "[{\"name\":\"Bo\"}]"),
            people("", requests: "[{\"name\":\"Bo\"}]"),
            []
        ),
        (
            people(person("a", "ACCEPTED") + "," + person("b", "INVITED")),
            people("{\"user\":\"_c\",\"status\":\"ACCEPTED\"},{\"status\":\"ACCEPTED\"}"),
            ["accepted _c", "accepted somebody", "left a", "declined b"]
        ),
    ]
}
