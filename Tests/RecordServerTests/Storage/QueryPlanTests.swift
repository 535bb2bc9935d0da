import Logging
import RecordModel
import RecordSQL
import RecordWire
import Synchronization
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

@Suite("SQLite query plans") struct QueryPlanTests {
    typealias Sample = StorageSample

    private final class Statements: Sendable {
        private let all = Mutex<Set<String>>([])
        var sorted: [String] { all.withLock { $0.sorted() } }
        func add(_ sql: String) { all.withLock { _ = $0.insert(sql) } }
    }

    /// Lists of a whole small table.
    private static let wholeTables = ["users", "containers", "share_reports"]

    @Test("no statement of the storage reads a whole table, and none sorts but by owner and zone")
    func plans() async throws {
        let statements = Statements()
        let queue = try SQLQueue()
        queue.trace { statements.add($0) }
        try queue.use { connection throws(RecordError) in
            try SQLiteTables.migrations.apply(to: connection)
        }
        let migrations = Set(statements.sorted)
        let storage = SQLiteStorage(
            database: SQLPool(inMemory: queue), synchronous: .normal,
            logger: Logger(label: "test"))
        try await useRecords(storage)
        try await useFeeds(storage)
        try await useOthers(storage)
        let used = statements.sorted.filter { sql in
            !migrations.contains(sql)
                && ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) }
        }
        #expect(used.count > 80, "only \(used.count) statements were seen")
        for sql in used {
            let plan = try queue.read { connection throws(RecordError) in
                try connection.all("EXPLAIN QUERY PLAN " + sql) { $0.string(3) }
            }
            for step in plan where step.hasPrefix("SCAN") {
                let isAllowed =
                    step == "SCAN CONSTANT ROW" || step.hasPrefix("SCAN (subquery")
                    || step == "SCAN i"
                    || step == "SCAN zones USING INDEX zones_deleted"
                    || Self.wholeTables.contains { step.hasPrefix("SCAN \($0)") }
                #expect(isAllowed, "\(step) in \(sql)")
            }
            for step in plan where step.contains("TEMP B-TREE") {
                #expect(sql.contains("ORDER BY d.owner"), "\(step) in \(sql)")
            }
        }
        storage.close()
    }

    private func useRecords(_ storage: SQLiteStorage) async throws {
        try await storage.write { transaction throws(ServerError) in
            var zone = try transaction.createZone(Sample.zone, incarnation: 1)
            zone.position = 9
            try transaction.updateZone(zone)
            let name = RecordName("a")
            try transaction.putTestTree(zone.handle, Sample.share)
            for record in [
                Sample.record("a", 1, parent: "p", share: Sample.share), Sample.record("a", 2),
                Sample.record("a", 3), Sample.tombstone("b", 4),
            ] { try transaction.put(zone.handle, record) }
            for key in [UInt8(1), 2] {
                try transaction.putIndex(
                    zone.handle, type: Sample.note, name,
                    [IndexEntry(field: FieldName("f"), kind: .value, key: [key])])
                try transaction.putReferences(
                    zone.handle, from: name,
                    [StoredReference(target: RecordName("t"), action: .validate)])
            }
            try transaction.putAsset(
                AssetRow(
                    database: Sample.database, fileChecksum: "s", sha256: ContentHash(hex: "0"),
                    size: 1, uploadedMilliseconds: 1))
            for checksums: [Text] in [["s"], [], ["s"]] {
                try transaction.putAssetReferences(zone.handle, from: name, checksums)
            }
            try transaction.putExit(zone.handle, share: Sample.share, name, position: 5)
            try Self.useTrees(transaction, zone.handle, name)
            try transaction.putOperationResult(
                Sample.database, Sample.alice, operationID: "o", result: [], milliseconds: 1,
                keeping: 1)
        }
    }

    private static func useTrees(
        _ transaction: any StorageTransaction, _ zone: ZoneHandle, _ name: RecordName
    ) throws(ServerError) {
        let tree = TreeNumber(of: Sample.share)
        for position in [nil, Int64(6)] {
            try transaction.move(
                zone, name, to: tree, position: position, entering: Sample.share)
        }
        try transaction.putTreeWork(zone, tree, TreeWork(parent: name))
        _ = try transaction.treeWork(zone, tree)
        _ = try transaction.unfinishedTree(zone, in: TreeNumber(1))
        _ = try transaction.treeCount(zone, share: Sample.share, limit: 9)
        _ = try transaction.trees(zone, inside: tree)
        _ = try transaction.treeMember(zone, name)
        _ = try transaction.treeMembers(zone, below: name, after: nil, limit: 9)
        _ = try transaction.members(zone, of: Sample.share, limit: 9)
        try transaction.removeTreeWork(zone, tree, name)
        try transaction.deleteTree(zone, TreeNumber(1))
    }

    private func useFeeds(_ storage: SQLiteStorage) async throws {
        try await storage.read { reader throws(ServerError) in
            guard let zone = try reader.zone(Sample.zone)?.handle else { return }
            for descending in [true, false] {
                for shares in [nil, [Sample.share]] {
                    _ = try reader.changes(
                        zone, after: 0, shares: shares, descending: descending, limit: 9)
                }
                for name in [nil, RecordName("a")] {
                    _ = try reader.records(
                        zone, type: Sample.note, after: name, descending: descending, limit: 9)
                }
                for number in 0..<8 {
                    var scan = IndexScan(
                        type: Sample.note, field: FieldName("f"), kind: .value, limit: 9)
                    scan.ascending = !descending
                    if number & 1 != 0 { scan.lower = [0] }
                    if number & 2 != 0 { scan.upper = [9] }
                    if number & 4 != 0 { scan.after = ([1], RecordName("a")) }
                    _ = try reader.scan(zone, scan)
                }
            }
            _ = try reader.countChanges(zone, after: 0, shares: nil, limit: 9)
            _ = try reader.children(zone, of: RecordName("p"), limit: 9)
            _ = try reader.members(zone, of: Sample.share, limit: 9)
            _ = try reader.sources(
                zone, of: RecordName("t"), action: .validate, limit: 9)
            _ = try reader.refers(zone, RecordName("a"), to: "s")
            _ = try reader.asset(Sample.database, fileChecksum: "s")
            _ = try reader.savedAsset(Sample.database, fileChecksum: "s")
            _ = try reader.unreferencedAssets(before: 9, limit: 9)
            _ = try reader.isContentKnown(ContentHash(hex: "0"))
            for holder in [
                QuotaHolder.user(Sample.alice), .publicDatabase(Sample.database),
            ] {
                _ = try reader.usedBytes(holder)
                _ = try reader.unsavedBytes(holder)
                _ = try reader.releasedAssets(holder, uploadedBefore: 9, limit: 9)
            }
            _ = try reader.lastTombstone(zone, beforeNewest: 0, limit: 9)
            _ = try reader.operationResult(Sample.database, Sample.alice, operationID: "o")
            _ = try reader.zones(Sample.database)
            _ = try reader.zoneTombstones(Sample.database)
            _ = try reader.zoneFeed(Sample.database)
            _ = try reader.zoneChanges(Sample.database, after: 0, start: 0, limit: 9)
        }
    }

    private func useOthers(_ storage: SQLiteStorage) async throws {
        try await storage.write { transaction throws(ServerError) in
            try Self.useShares(transaction)
            try Self.useAccounts(transaction)
            try Self.usePush(transaction)
            guard let zone = try transaction.lockZone(Sample.zone) else { return }
            _ = try transaction.removeTombstones(zone.handle, upTo: 9, limit: 9)
            try transaction.removeOperationResults(before: 9)
            try transaction.putSetting("a", [1])
            _ = try transaction.setting("a")
            try transaction.createContainer("a")
            _ = try transaction.containers()
            try transaction.putSchema(Sample.container, SchemaRow(version: 1, text: []))
            _ = try transaction.schema(Sample.container)
            try transaction.putRoles(Sample.container, of: Sample.alice, ["r"])
            _ = try transaction.roles(Sample.container, of: Sample.alice)
            try transaction.erase(Sample.container, reason: .purged)
            _ = try transaction.sweepDeletedZones(limit: 99)
            _ = try transaction.sweepZoneTombstones(now: 9, before: 9, limit: 9)
            try transaction.deleteAssets([
                AssetRow(
                    database: Sample.database, fileChecksum: "s", sha256: ContentHash(hex: "s"),
                    size: 1, uploadedMilliseconds: 1)
            ])
        }
    }

    private static func useShares(
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        var participant = ParticipantRow(
            participantID: "p", user: nil, lookup: UserLookup(), type: .user,
            permission: .readOnly, status: .invited)
        participant.link = "l"
        var share = ShareRow(
            zone: Sample.zone, name: Sample.share, root: nil, shortGUID: "g",
            publicPermission: .none, participants: [participant])
        share.requesters = [RequesterRow(user: Sample.bob, milliseconds: 1)]
        try transaction.putShare(share)
        _ = try transaction.share(Sample.container, link: "l")
        try transaction.noteAccessRequest(Sample.bob, milliseconds: 1)
        try transaction.putShareReport(
            ShareReport(
                zone: Sample.zone, share: Sample.share, shortGUID: "g", reporter: Sample.bob,
                milliseconds: 1, text: ""))
        _ = try transaction.shareReports(limit: 1)
        _ = try transaction.share(Sample.zone, Sample.share)
        _ = try transaction.shares(Sample.zone)
        _ = try transaction.share(Sample.container, shortGUID: "g")
        for viewer in [Sample.bob, Sample.carol] {
            try transaction.putSharedZone(
                SharedZoneRow(
                    viewer: viewer, zone: Sample.zone, incarnation: 1, shares: [Sample.share]))
        }
        _ = try transaction.sharedZone(Sample.bob, Sample.zone)
        _ = try transaction.sharedZones(Sample.bob, Sample.container)
        _ = try transaction.viewers(Sample.zone)
        try transaction.deleteSharedZone(Sample.carol, Sample.zone, reason: .deleted)
        _ = try transaction.sharedZoneTombstones(Sample.bob, Sample.container)
        try transaction.putShare(
            ShareRow(
                zone: Sample.zone, name: Sample.otherShare, root: nil, shortGUID: "h",
                publicPermission: .none, participants: []))
        try transaction.deleteShare(Sample.zone, Sample.otherShare)
    }

    private static func useAccounts(
        _ transaction: any StorageTransaction
    ) throws(ServerError) {
        try transaction.putUser(
            UserRow(
                name: Sample.alice, emailAddress: "a", passwordHash: "",
                createdMilliseconds: 1))
        _ = try transaction.user(Sample.alice)
        _ = try transaction.user(phoneNumber: "1")
        _ = try transaction.users()
        try transaction.putAPIToken(
            APITokenRow(
                hash: "h", container: Sample.container, name: "", createdMilliseconds: 1))
        _ = try transaction.apiToken(hash: "h")
        _ = try transaction.apiTokens("c")
        try transaction.putSession(
            SessionRow(
                id: "i", user: Sample.alice, container: Sample.container,
                createdMilliseconds: 1, expiresMilliseconds: 2, label: ""))
        _ = try transaction.session("i")
        _ = try transaction.sessions(Sample.alice)
        try transaction.removeSessions(expiredBefore: 9)
        try transaction.putServerKey(
            ServerKeyRow(
                keyID: "k", container: Sample.container, publicKeyPEM: "", name: "",
                user: Sample.alice, createdMilliseconds: 1))
        _ = try transaction.serverKey("k")
        _ = try transaction.serverKeys("c")
    }

    private static func usePush(_ transaction: any StorageTransaction) throws(ServerError) {
        let key = SubscriptionKey(
            container: Sample.container, user: Sample.alice, scope: .public)
        try transaction.putSubscription(
            SubscriptionRow(key: key, subscriptionID: "s", dictionary: []))
        _ = try transaction.subscription(key, "s")
        _ = try transaction.subscriptions(key)
        _ = try transaction.publicSubscriptions(Sample.container)
        try transaction.deleteSubscription(key, "s")
        try transaction.putPushDevice(
            PushDeviceRow(
                courierHash: "d", container: Sample.container, user: Sample.alice,
                credential: "", clientID: "", apnsEnvironment: "", apnsToken: "",
                lastSeenMilliseconds: 1))
        for _ in 0..<2 {
            try transaction.enqueueFrame(courierHash: "d", [1], limit: 1)
        }
        _ = try transaction.devicesWithFrames(among: ["d"])
        _ = try transaction.pushDevice(courierHash: "d")
        _ = try transaction.pushDevices(Sample.container, Sample.alice)
        _ = try transaction.dequeueFrame(courierHash: "d")
        try transaction.deletePushDevice(courierHash: "d")
        try transaction.removePushDevices(lastSeenBefore: 9, at: 9)
    }
}
