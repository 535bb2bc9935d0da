import Glibc
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport

@testable import RecordServerCore
@testable import RecordServerSQLite

/// A service on a storage in memory with four people who agree to be found, of whom Alice has a
/// zone.
final class SharingFixture: Sendable {
    static let container = ContainerKey(
        container: "iCloud.org.example.app", environment: .development)

    let storage: SQLiteStorage
    let service: RecordService
    let directory: String
    let alice = person("alice", "a", "Ayers")
    let bob = person("bob", "b", "Brown")
    let carol = person("carol", "c", "Cole")
    let dave = person("dave", "d", "Dunn")
    let zone: ZoneKey

    init(settings: ServiceSettings = ServiceSettings()) async throws {
        storage = try SQLiteStorage.open(path: nil)
        directory = try Self.makeDirectory()
        service = RecordService(
            storage: storage, assets: try AssetDirectory(path: directory),
            seal: Seal(key: [UInt8](repeating: 7, count: 32)), settings: settings,
            push: PushHub(storage: storage))
        zone = ZoneKey(
            database: DatabaseKey(container: Self.container, owner: alice.name),
            zone: ZoneName("Work"))
        let people = [alice, bob, carol, dave]
        let key = zone
        try await storage.write { transaction throws(ServerError) in
            try transaction.createContainer(Self.container.container)
            for person in people { try transaction.putUser(person) }
            _ = try transaction.createZone(key, incarnation: 77)
        }
    }

    deinit {
        for name in ["tmp", "doomed", ""] { rmdir(directory + "/" + name) }
    }

    private static func makeDirectory() throws -> String {
        var template = Array("/tmp/recordfs-sharing-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ServerError(.internalError, "mkdtemp") }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func person(_ name: String, _ digit: String, _ family: String) -> UserRow {
        var row = UserRow(
            name: UserName("_" + String(repeating: digit, count: 32)),
            emailAddress: Text("\(name)@example.org"), phoneNumber: nil,
            givenName: Text(name.capitalized(1)), familyName: Text(family), passwordHash: "",
            createdMilliseconds: 0)
        row.isDiscoverable = true
        return row
    }

    func context(
        _ user: UserRow?, _ scope: DatabaseScope, _ endpoint: Endpoint = .recordsModify,
        isGet: Bool = false
    ) -> OperationContext {
        OperationContext(
            endpoint: endpoint, container: Self.container, scope: scope,
            caller: user.map { .user($0) } ?? .anonymous, requestID: "request-1",
            now: Timestamp(seconds: 1_770_000_000), baseURL: "http://127.0.0.1:8080",
            isGet: isGet)
    }

    /// The answer of an endpoint.
    func answer(
        _ endpoint: Endpoint, _ scope: DatabaseScope, as user: UserRow?, _ body: JSONValue = [:],
        isGet: Bool = false
    ) async throws -> JSONValue {
        let bytes = try await service.answer(
            body, context(user, scope, endpoint, isGet: isGet))
        return try JSONParser.parse(bytes)
    }

    // MARK: What is stored

    /// A record as storage rows, without records/modify.
    func putRecord(
        _ name: RecordName, type: RecordTypeName = RecordTypeName("Note"),
        share: RecordName? = nil, shortGUID: Text? = nil
    ) async throws {
        let (key, owner) = (zone, alice.name)
        try await storage.write { transaction throws(ServerError) in
            guard var zone = try transaction.lockZone(key) else { return }
            zone.position += 1
            let stamp = WriteStamp(milliseconds: 1, user: owner, device: "")
            var record = StoredRecord(
                name: name, type: type, tag: zone.position, position: zone.position,
                fields: Array("{}".utf8), created: stamp, modified: stamp)
            record.share = share
            record.tree = share.map { TreeNumber(of: $0) }
            record.shortGUID = shortGUID
            try transaction.putTestTree(zone.handle, share, top: .testRoot)
            try transaction.put(zone.handle, record)
            try transaction.updateZone(zone)
        }
    }

    func record(_ name: RecordName) async throws -> StoredRecord? {
        let key = zone
        return try await storage.read { reader throws(ServerError) in
            guard let zone = try reader.zone(key) else { return nil }
            return try reader.records(zone.handle, [name])[name]
        }
    }

    func share(_ name: RecordName = .testShare) async throws -> ShareRow? {
        let key = zone
        return try await storage.read { reader throws(ServerError) in
            try reader.share(key, name)
        }
    }

    func view(of user: UserRow) async throws -> SharedZoneRow? {
        let key = zone
        return try await storage.read { reader throws(ServerError) in
            try reader.sharedZone(user.name, key)
        }
    }

    // MARK: Rules, applied

    /// Creates a share by the rules, with the rows of its record, as the owner.
    @discardableResult
    func create(_ dictionary: RecordDictionary, as user: UserRow? = nil) async throws -> ShareRow {
        let context = context(user ?? alice, .private)
        let (key, settings, seed) = (zone, service.settings, RandomIDs())
        let share = try await storage.write { transaction throws(ServerError) in
            var ids = seed
            let access = try ZoneAccess.openForWriting(
                ZoneIdentifier(zone: key.zone), context, incarnation: 1, transaction)
            let situation = ShareRules.Situation(
                access: access, context: context, settings: settings, reader: transaction)
            var root: StoredRecord?
            if let name = dictionary.share?.root {
                root = try transaction.records(access.zone.handle, [name])[name]
            }
            let share = try ShareRules.create(dictionary, root: root, situation, ids: &ids)
            try ShareRules.apply(old: nil, new: share, ids: &ids, transaction)
            return share
        }
        try await putRecord(
            share.name, type: .share, share: share.root == nil ? nil : share.name,
            shortGUID: share.shortGUID)
        if let root = share.root {
            try await putRecord(root, share: share.name, shortGUID: share.shortGUID)
        }
        return share
    }

    /// Saves the share again by the rules, as `user`, in the scope that it has it in.
    @discardableResult
    func update(
        _ dictionary: ShareDictionary, of name: RecordName = .testShare, as user: UserRow
    ) async throws -> ShareRow {
        let context = context(user, user.name == alice.name ? .private : .shared)
        let (key, settings, seed) = (zone, service.settings, RandomIDs())
        return try await storage.write { transaction throws(ServerError) in
            var ids = seed
            let access = try ZoneAccess.openForWriting(
                ZoneIdentifier(zone: key.zone, owner: key.database.owner), context,
                incarnation: 1, transaction)
            let situation = ShareRules.Situation(
                access: access, context: context, settings: settings, reader: transaction)
            guard let old = try transaction.share(key, name) else {
                throw ServerError(.notFound, "no share")
            }
            var record = RecordDictionary(name: name, type: .share)
            record.share = dictionary
            let new = try ShareRules.update(old, with: record, situation, ids: &ids)
            try ShareRules.apply(old: old, new: new, ids: &ids, transaction)
            return new
        }
    }

    /// Takes the share away, as its owner does.
    func stop(_ name: RecordName = .testShare) async throws {
        let (key, seed) = (zone, RandomIDs())
        try await storage.write { transaction throws(ServerError) in
            var ids = seed
            try ShareRules.apply(
                old: try transaction.share(key, name), new: nil, ids: &ids, transaction)
        }
    }

    /// Accepts, and gives back the result of this short GUID.
    @discardableResult
    func accept(_ shortGUID: Text, as user: UserRow) async throws -> JSONValue {
        let answer = try await answer(
            .recordsAccept, .public, as: user, ["shortGUIDs": [["value": .string(shortGUID)]]])
        return answer["results"]?.array?.first ?? .null
    }

    func resolve(_ shortGUID: Text, as user: UserRow?) async throws -> JSONValue {
        let answer = try await answer(
            .recordsResolve, .public, as: user, ["shortGUIDs": [["value": .string(shortGUID)]]])
        return answer["results"]?.array?.first ?? .null
    }

    /// The zone as this user has it in the shared database.
    func open(as user: UserRow, _ scope: DatabaseScope = .shared) async throws -> ZoneAccess {
        let context = context(user, scope)
        let id = ZoneIdentifier(zone: zone.zone, owner: zone.database.owner)
        return try await storage.read { reader throws(ServerError) in
            try ZoneAccess.open(id, context, reader)
        }
    }
}

extension String {
    fileprivate func capitalized(_ count: Int) -> String {
        prefix(count).uppercased() + dropFirst(count)
    }
}

extension RecordDictionary {
    /// A share of `root`, or of the zone.
    static func share(
        _ name: RecordName = .testShare, of root: RecordName? = .testRoot,
        _ permission: SharePermission = .none, _ participants: [ParticipantDictionary] = []
    ) -> RecordDictionary {
        var record = RecordDictionary(name: name, type: .share)
        var share = ShareDictionary()
        share.root = root
        share.publicPermission = permission
        share.participants = participants
        record.share = share
        return record
    }
}

extension ShareDictionary {
    static func list(_ participants: [ParticipantDictionary]) -> ShareDictionary {
        var share = ShareDictionary()
        share.participants = participants
        return share
    }

    static func opened(_ permission: SharePermission) -> ShareDictionary {
        var share = ShareDictionary()
        share.publicPermission = permission
        return share
    }
}

extension ParticipantDictionary {
    /// An invitation to the address or the name of somebody.
    static func invite(
        _ user: UserRow, byName: Bool = false, _ permission: SharePermission? = .readWrite,
        _ type: ParticipantType? = nil
    ) -> ParticipantDictionary {
        ParticipantDictionary(
            lookup: byName
                ? UserLookup(userName: user.name) : UserLookup(emailAddress: user.emailAddress),
            type: type, permission: permission)
    }

    /// A participant as an answer listed it.
    static func row(_ row: ParticipantRow, _ permission: SharePermission? = nil)
        -> ParticipantDictionary
    {
        ParticipantDictionary(
            participantID: row.participantID, lookup: UserLookup(), type: row.type,
            permission: permission ?? row.permission, status: row.status)
    }
}

extension RecordName {
    static let testRoot = RecordName("root")
    static let testShare = RecordName("s")
}
