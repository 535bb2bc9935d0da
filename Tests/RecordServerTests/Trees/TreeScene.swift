import RecordModel
import RecordSQL
import RecordWire
import ServerTestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// Alice's zone, whose records take along three others in a transaction at most, on two services
/// over one storage, as two processes of a server are. They are used in turn.
///
/// A request that needs more than one transaction is refused after the first, so that each step of
/// what prepares it can be looked at.
final class TreeScene {
    enum Viewer: CaseIterable {
        case bob, carol
    }

    let fixture: SharingFixture
    /// Of both services.
    let writes: TransactionCounter
    private let senders: [TreeSender]
    private var turn = 0
    private(set) var views: [Viewer: TreeView] = [.bob: TreeView(), .carol: TreeView()]
    /// Records that one fetch told of more than once.
    var repeated: [String] { views.values.flatMap(\.repeated) }

    init(
        room: Int = 3, seconds: Double = 0, _ change: (inout ServiceSettings) -> Void = { _ in }
    ) async throws {
        var settings = ServiceSettings()
        change(&settings)
        settings.membersPerTransaction = room
        settings.preparationSeconds = seconds
        fixture = try await SharingFixture(settings: settings)
        writes = TransactionCounter(fixture.storage)
        senders = [
            TreeSender(service: fixture.service.twin(over: writes), fixture: fixture),
            TreeSender(service: fixture.service.twin(over: writes), fixture: fixture),
        ]
    }

    private var sender: TreeSender {
        turn += 1
        return senders[turn % senders.count]
    }

    func user(_ viewer: Viewer) -> UserRow {
        switch viewer {
        case .bob: fixture.bob
        case .carol: fixture.carol
        }
    }

    private func answer(
        _ endpoint: Endpoint, _ scope: DatabaseScope, as user: UserRow, _ body: JSONValue
    ) async throws(ServerError) -> JSONValue {
        try await sender.answer(endpoint, scope, as: user, body)
    }

    /// An atomic request of Alice, or of a viewer; the code of the first operation that failed.
    func modify(_ operations: [JSONValue], as viewer: Viewer? = nil) async throws -> String? {
        try await sender.modify(operations, as: viewer.map { user($0) })
    }

    /// The same until nothing is left to prepare.
    func finish(_ operations: [JSONValue]) async throws -> String? {
        for _ in 0..<10_000 {
            let code = try await modify(operations)
            if code != "TRY_AGAIN_LATER" { return code }
        }
        return "never"
    }

    /// Two requests of Alice at the same time, one to each service.
    func modifyTogether(
        _ one: [JSONValue], _ other: [JSONValue]
    ) async throws -> [String?] {
        let (first, second) = (senders[0], senders[1])
        async let code = first.modify(one, as: nil)
        async let otherCode = second.modify(other, as: nil)
        return try await [code, otherCode]
    }

    func accept(_ share: String, as viewer: Viewer) async throws {
        let row = try #require(try await fixture.share(RecordName(share)))
        try await fixture.accept(row.shortGUID, as: user(viewer))
    }

    /// All pages of the feed after a token; nil where the token has expired, or the zone is not
    /// there (an empty feed without a token).
    func feed(
        _ viewer: Viewer, since token: Text?
    ) async throws -> (entries: [TreeView.Entry], token: Text?)? {
        var entries: [TreeView.Entry] = []
        var token = token
        while true {
            var zone: [JSONMember] = [
                JSONMember(
                    key: "zoneID",
                    value: [
                        "zoneName": "Work",
                        "ownerRecordName": .string(Text(utf8: fixture.alice.name.bytes)),
                    ]), JSONMember(key: "resultsLimit", value: 4),
            ]
            if let token { zone.append(JSONMember(key: "syncToken", value: .string(token))) }
            let found = try await answer(
                .changesZone, .shared, as: user(viewer), ["zones": [.object(zone)]])
            let page = found.at("zones.0")
            switch page["serverErrorCode"]?.string?.string {
            case "CHANGE_TOKEN_EXPIRED": return nil
            case "ZONE_NOT_FOUND": return ([], nil)
            case let code?: throw ServerError(.internalError, code)
            case nil: break
            }
            for record in page["records"]?.array ?? [] {
                entries.append(
                    TreeView.Entry(
                        name: record["recordName"]?.string?.string ?? "?",
                        isGone: record["deleted"]?.bool == true))
            }
            token = page["syncToken"]?.string
            guard page["moreComing"]?.bool == true else { return (entries, token) }
        }
    }

    /// What a viewer has after it has fetched what is new, as clients do.
    func fetched(_ viewer: Viewer) async throws -> Set<String> {
        var view = views[viewer] ?? TreeView()
        if let token = view.token, let (entries, next) = try await feed(viewer, since: token) {
            view.apply(entries)
            view.token = next
            // The zone is gone from the database.
            if next == nil { view.clear() }
            view.isAgain = false
        } else {
            view.clear()
            view.isAgain = true
            let fetched = try #require(try await feed(viewer, since: nil))
            view.apply(fetched.entries)
            view.token = fetched.token
        }
        views[viewer] = view
        return view.names
    }

    /// Everything that a viewer sees, fetched from nothing.
    func seen(_ viewer: Viewer) async throws -> Set<String> {
        var view = TreeView()
        view.apply(try #require(try await feed(viewer, since: nil)).entries)
        return view.names
    }

    /// Everything that a viewer finds.
    func queried(_ viewer: Viewer, type: String = "Note") async throws -> Set<String> {
        var names: [String] = []
        var body: [JSONMember] = [
            JSONMember(
                key: "zoneID",
                value: [
                    "zoneName": "Work",
                    "ownerRecordName": .string(Text(utf8: fixture.alice.name.bytes)),
                ]), JSONMember(key: "query", value: ["recordType": JSONValue(type)]),
        ]
        while true {
            let page: JSONValue
            do throws(ServerError) {
                page = try await answer(
                    .recordsQuery, .shared, as: user(viewer), .object(body))
            } catch {
                guard error.code == .zoneNotFound else { throw error }
                return []
            }
            names += (page["records"]?.array ?? []).compactMap {
                $0["recordName"]?.string?.string
            }
            guard let marker = page["continuationMarker"] else { return Set(names) }
            body.removeAll { $0.key == "continuationMarker" }
            body.append(JSONMember(key: "continuationMarker", value: marker))
        }
    }

    /// What the storage says each record is a member of.
    func memberships() async throws -> [String: String] {
        let key = fixture.zone
        return try await fixture.storage.read { reader throws(ServerError) in
            guard let zone = try reader.zone(key) else { return [:] }
            var found: [String: String] = [:]
            for entry in try reader.changes(
                zone.handle, after: 0, shares: nil, descending: false, limit: .max)
            {
                guard case .record(let record) = entry, let share = record.share else { continue }
                found[record.name.description] = share.description
            }
            return found
        }
    }

    /// How many trees there are, and how much is left to do on them.
    func treeCount() async throws -> Int { try await count("trees") }
    func workCount() async throws -> Int { try await count("tree_work") }

    private func count(_ table: String) async throws -> Int {
        try await fixture.storage.read { reader throws(ServerError) in
            try (reader as? SQLiteAccess)?.first("SELECT count(*) FROM \(table)") {
                Int($0.int64(0))
            } ?? 0
        }
    }

    func deleteZone() async throws { try await fixture.deleteZone() }

    /// What is left when everything that is deleted has been swept.
    func sweep() async throws {
        while try await fixture.storage.write({ transaction throws(ServerError) in
            try transaction.sweepDeletedZones(limit: 50)
        }) {}
    }
}

extension SharingFixture {
    func deleteZone() async throws(ServerError) {
        let key = zone
        try await storage.write { transaction throws(ServerError) in
            guard let zone = try transaction.zone(key) else { return }
            try transaction.deleteZone(zone, reason: .deleted)
        }
    }
}

/// What one client has of a zone.
struct TreeView {
    struct Entry: Hashable {
        let name: String
        let isGone: Bool
    }

    private(set) var names: Set<String> = []
    var token: Text?
    /// Whether the last fetch began from nothing.
    var isAgain = false
    private(set) var repeated: [String] = []

    mutating func clear() {
        names = []
        token = nil
    }

    mutating func apply(_ entries: [Entry]) {
        var told: Set<String> = []
        for entry in entries {
            if !told.insert(entry.name).inserted { repeated.append(entry.name) }
            if entry.isGone { names.remove(entry.name) } else { names.insert(entry.name) }
        }
    }
}
