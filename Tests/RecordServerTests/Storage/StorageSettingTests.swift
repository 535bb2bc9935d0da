import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: settings") struct StorageSettingTests {
    typealias Sample = StorageSample

    @Test(
        "settings, containers, schemas and roles come back as they were put",
        arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let schema = SchemaRow(version: 3, text: Array("DEFINE SCHEMA".utf8))
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSetting("key", [1])
            try transaction.putSetting("key", [2, 0])
            for name: Text in ["iCloud.b", "iCloud.a", "iCloud.b"] {
                try transaction.createContainer(name)
            }
            try transaction.putSchema(
                Sample.container, SchemaRow(version: 1, text: Array("old".utf8)))
            try transaction.putSchema(Sample.container, schema)
            try transaction.putRoles(Sample.container, of: Sample.alice, ["z", "y", "y"])
            try transaction.putRoles(Sample.container, of: Sample.alice, ["b", "a", "b"])
        }
        let (setting, none, containers, stored, other, roles, others) =
            try await storage.read { (reader) throws(ServerError) in
                (
                    try reader.setting("key"), try reader.setting("other"),
                    try reader.containers(), try reader.schema(Sample.container),
                    try reader.schema(Sample.production),
                    try reader.roles(Sample.container, of: Sample.alice),
                    try reader.roles(Sample.production, of: Sample.alice)
                )
            }
        #expect(setting == [2, 0])
        #expect(none == nil)
        #expect(containers == ["iCloud.a", "iCloud.b"])
        #expect(stored == schema)
        #expect(other == nil)
        #expect(roles == ["a", "b"])
        #expect(others.isEmpty)
    }

    @Test(
        "erasing an environment takes everybody's zones and leaves the other one",
        arguments: StorageSubject.all)
    func erase(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let kept = ZoneKey(
            database: DatabaseKey(container: Sample.production, owner: Sample.alice),
            zone: ZoneName("Work"))
        let keys = [Sample.zone, Sample.zone("b", of: Sample.bob), kept]
        for key in keys { _ = try await storage.makeZone(key) }
        @Sendable func subscription(_ container: ContainerKey) -> SubscriptionRow {
            SubscriptionRow(
                key: SubscriptionKey(container: container, user: Sample.bob, scope: .public),
                subscriptionID: "s", dictionary: [])
        }
        try await storage.write { (transaction) throws(ServerError) in
            for container in [Sample.container, Sample.production] {
                let database = DatabaseKey(container: container, owner: Sample.alice)
                try transaction.putOperationResult(
                    database, Sample.alice, operationID: "o", result: [1], milliseconds: 1,
                    keeping: 1)
                try transaction.putSubscription(subscription(container))
            }
            try transaction.putSharedZone(
                SharedZoneRow(
                    viewer: Sample.bob, zone: Sample.zone, incarnation: 1,
                    shares: [Sample.share]))
            try transaction.erase(Sample.container, reason: .purged)
        }
        try await storage.read { (reader) throws(ServerError) in
            for (key, isThere) in zip(keys, [false, false, true]) {
                #expect((try reader.zone(key) != nil) == isThere)
            }
            #expect(
                try reader.zoneTombstones(Sample.database)
                    == [ZoneTombstone(key: Sample.zone, reason: .purged)])
            #expect(
                try reader.sharedZoneTombstones(Sample.bob, Sample.container)
                    == [ZoneTombstone(key: Sample.zone, reason: .purged)])
            for (container, count) in [(Sample.container, 0), (Sample.production, 1)] {
                let database = DatabaseKey(container: container, owner: Sample.alice)
                let result = try reader.operationResult(
                    database, Sample.alice, operationID: "o")
                #expect((result != nil) == (count == 1))
                #expect(try reader.publicSubscriptions(container).count == count)
            }
        }
    }
}
