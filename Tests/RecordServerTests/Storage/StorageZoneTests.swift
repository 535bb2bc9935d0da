import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: zones") struct StorageZoneTests {
    typealias Sample = StorageSample

    @Test(
        "a zone is found with what it was made with and updated to", arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let made = try await storage.write { (transaction) throws(ServerError) in
            try transaction.createZone(Sample.zone, incarnation: .max)
        }
        #expect(made.incarnation == .max)
        #expect(made.position == 0)
        var changed = made
        changed.position = 9
        changed.horizon = 4
        changed.recordCount = 3
        changed.recordBytes = 1_234
        let stored = changed
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.updateZone(stored)
        }
        let found = try await storage.read { (reader) throws(ServerError) in
            try reader.zone(Sample.zone)
        }
        #expect(found == changed)
    }

    @Test("zones are listed by name, those of one database only", arguments: StorageSubject.all)
    func list(subject: StorageSubject) async throws {
        let storage = try subject.open()
        for name in ["b", "a", "c"] { _ = try await storage.makeZone(Sample.zone(name)) }
        _ = try await storage.makeZone(Sample.zone("d", of: Sample.bob))
        let other = DatabaseKey(container: Sample.production, owner: Sample.alice)
        _ = try await storage.makeZone(ZoneKey(database: other, zone: ZoneName("e")))
        let (mine, none) = try await storage.read { (reader) throws(ServerError) in
            (
                try reader.zones(Sample.database),
                try reader.zones(DatabaseKey(container: Sample.container, owner: Sample.carol))
            )
        }
        #expect(mine.map(\.key.zone.description) == ["a", "b", "c"])
        #expect(none.isEmpty)
        #expect(Set(mine.map(\.handle)).count == 3)
        #expect(mine.allSatisfy { $0.handle.database == $0.key.database })
    }

    @Test("a zone cannot be made twice", arguments: StorageSubject.all)
    func twice(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let first = try await storage.makeZone()
        await #expect(throws: ServerError.self) { try await storage.makeZone() }
        let found = try await storage.read { (reader) throws(ServerError) in
            try reader.zone(Sample.zone)
        }
        #expect(found == first)
    }

    @Test(
        "a deleted zone is gone at once with all that was in it, and leaves a tombstone",
        arguments: StorageSubject.all, DeletionReason.allCases)
    func delete(subject: StorageSubject, reason: DeletionReason) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("a", 1), Sample.record("b", 2)])
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteZone(zone, reason: reason)
        }
        let (found, all, tombstones) = try await storage.read { (reader) throws(ServerError) in
            (
                try reader.zone(Sample.zone), try reader.zones(Sample.database),
                try reader.zoneTombstones(Sample.database)
            )
        }
        #expect(found == nil)
        #expect(all.isEmpty)
        #expect(tombstones == [ZoneTombstone(key: Sample.zone, reason: reason)])
    }

    @Test(
        "the feed of a database has its zones by their last change, in portions, each once",
        arguments: StorageSubject.all)
    func feed(subject: StorageSubject) async throws {
        let storage = try subject.open()
        func changes(
            after position: Int64, start: Int64 = 0, limit: Int = 99
        ) async throws -> [ZoneChange] {
            try await storage.read { (reader) throws(ServerError) in
                try reader.zoneChanges(
                    Sample.database, after: position, start: start, limit: limit)
            }
        }
        func feed() async throws -> ZoneFeed? {
            try await storage.read { (reader) throws(ServerError) in
                try reader.zoneFeed(Sample.database)
            }
        }
        #expect(try await feed() == nil)
        var rows: [ZoneRow] = []
        for name in ["b", "a", "c"] { rows.append(try await storage.makeZone(Sample.zone(name))) }
        _ = try await storage.makeZone(Sample.zone("d", of: Sample.bob))
        let first = try await changes(after: 0, limit: 2)
        #expect(first.map(\.key) == [Sample.zone("b"), Sample.zone("a")])
        let rest = try await changes(after: try #require(first.last).position)
        #expect(rest.map(\.key) == [Sample.zone("c")])
        let end = try #require(try await feed())
        #expect(rest.last?.position == end.position)
        #expect(end.horizon == 0)
        // Horizon and counts are no change for readers.
        rows[2].horizon = 1
        rows[0].position += 1
        let stored = rows
        try await storage.write { (transaction) throws(ServerError) in
            for row in stored { try transaction.updateZone(row) }
            try transaction.deleteZone(stored[1], reason: .purged)
        }
        let later = try await changes(after: end.position)
        #expect(later.map(\.key) == [Sample.zone("b"), Sample.zone("a")])
        #expect(later.map(\.deletion) == [nil, .purged])
        #expect(try await feed()?.position == later.last?.position)
        // To who begins now it never was.
        let now = later.last?.position ?? 0
        #expect(
            try await changes(after: 0, start: now).map(\.key)
                == [Sample.zone("c"), Sample.zone("b")])
    }

    @Test(
        "tombstones of zones go when they are old, and the oldest when there are too many",
        arguments: StorageSubject.all)
    func tombstones(subject: StorageSubject) async throws {
        let storage = try subject.open()
        func names(_ prefix: String) -> Set<ZoneName> {
            Set((0..<ZoneTombstone.limit).map { ZoneName("\(prefix)\($0)") })
        }
        func deleteAll(_ zones: Set<ZoneName>) async throws {
            try await storage.write { (transaction) throws(ServerError) in
                for name in zones.sorted() {
                    let key = ZoneKey(database: Sample.database, zone: name)
                    let zone = try transaction.createZone(key, incarnation: 1)
                    try transaction.putSharedZone(
                        SharedZoneRow(viewer: Sample.bob, zone: key, incarnation: 1, shares: []))
                    try transaction.deleteSharedZone(Sample.bob, key, reason: .deleted)
                    try transaction.deleteZone(zone, reason: .deleted)
                }
            }
        }
        func left() async throws -> [Set<ZoneName>] {
            try await storage.read { (reader) throws(ServerError) in
                [
                    Set(try reader.zoneTombstones(Sample.database).map(\.key.zone)),
                    Set(
                        try reader.sharedZoneTombstones(Sample.bob, Sample.container)
                            .map(\.key.zone)),
                ]
            }
        }
        func sweep(now: Int64, before: Int64) async throws {
            var isMore = true
            while isMore {
                isMore = try await storage.write { (transaction) throws(ServerError) in
                    try transaction.sweepZoneTombstones(now: now, before: before, limit: 300)
                }
            }
        }
        try await deleteAll(names("a"))
        try await sweep(now: 1_000, before: 500)
        #expect(try await left() == [names("a"), names("a")])
        try await deleteAll([ZoneName("b"), ZoneName("c")])
        for tombstones in try await left() {
            #expect(tombstones.count == ZoneTombstone.limit)
            #expect(tombstones.isSuperset(of: [ZoneName("b"), ZoneName("c")]))
        }
        try await sweep(now: 2_000, before: 1_001)
        let rest: Set = [ZoneName("b"), ZoneName("c")]
        #expect(try await left() == [rest, rest])
        try await sweep(now: 3_000, before: 2_001)
        #expect(try await left() == [[], []])
        let feed = try await storage.read { (reader) throws(ServerError) in
            try reader.zoneFeed(Sample.database)
        }
        #expect(feed?.horizon == feed?.position)
    }

    @Test(
        "a zone of the same name is another, empty, and takes the tombstone away",
        arguments: StorageSubject.all)
    func again(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let first = try await storage.makeZone()
        try await storage.put([Sample.record("a", 1)])
        let (second, records, tombstones) = try await storage.write {
            (transaction) throws(ServerError) in
            try transaction.deleteZone(first, reason: .deleted)
            let second = try transaction.createZone(Sample.zone, incarnation: 7)
            return (
                second, try transaction.records(second.handle, [RecordName("a")]),
                try transaction.zoneTombstones(Sample.database)
            )
        }
        #expect(second.handle != first.handle)
        // Tags of the one before mean nothing in it.
        #expect(second.position == 1)
        #expect(records.isEmpty)
        #expect(tombstones.isEmpty)
        // An update that was computed from the zone before does not reach the new one.
        var stale = first
        stale.position = 99
        let late = stale
        let now = try await storage.write { (transaction) throws(ServerError) in
            try transaction.updateZone(late)
            return try transaction.zone(Sample.zone)
        }
        #expect(now == second)
    }

    @Test(
        "deleted zones are swept in portions, and the rows of other zones stay",
        arguments: StorageSubject.all)
    func sweep(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let kept = try await storage.makeZone(Sample.zone("Kept"))
        let zone = try await storage.makeZone()
        let database = Sample.database
        try await storage.put([Sample.record("a", 1)], in: kept.key)
        try await storage.put((1...25).map { Sample.record("r\($0)", $0) })
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putAsset(
                AssetRow(
                    database: database, fileChecksum: "sum", sha256: ContentHash(hex: "00"),
                    size: 5, uploadedMilliseconds: 1))
            let name = RecordName("r1")
            try transaction.putAssetReferences(zone.handle, from: name, ["sum"])
            try transaction.putReferences(
                zone.handle, from: name,
                [StoredReference(target: RecordName("r2"), action: .validate)])
            try transaction.putIndex(
                zone.handle, type: Sample.note, name,
                [IndexEntry(field: FieldName("f"), kind: .value, key: [1])])
            try transaction.putExit(
                zone.handle, share: Sample.share, RecordName("r3"), position: 3)
            try transaction.putShare(
                ShareRow(
                    zone: zone.key, name: Sample.share, root: nil, shortGUID: "g",
                    publicPermission: .none, participants: []))
            try transaction.deleteZone(zone, reason: .deleted)
        }
        var portions = 0
        while try await storage.write({ (transaction) throws(ServerError) in
            try transaction.sweepDeletedZones(limit: 10)
        }) {
            portions += 1
            try #require(portions < 20)
        }
        #expect(portions >= 2)
        let (rest, orphans) = try await storage.read { (reader) throws(ServerError) in
            (
                try reader.records(kept.handle, [RecordName("a")]),
                try reader.unreferencedAssets(before: 5_000, limit: 10)
            )
        }
        #expect(rest.count == 1)
        #expect(orphans.map(\.fileChecksum) == ["sum"])
        let isMore = try await storage.write { (transaction) throws(ServerError) in
            try transaction.sweepDeletedZones(limit: 10)
        }
        #expect(!isMore)
    }
}
