import RecordModel
import RecordServerCore
import RecordWire
import Testing

@Suite("Storage: assets") struct StorageAssetTests {
    typealias Sample = StorageSample

    private static func asset(
        _ checksum: Text, size: Int64 = 100, at time: Int64 = 10,
        in database: DatabaseKey = Sample.database
    ) -> AssetRow {
        AssetRow(
            database: database, fileChecksum: checksum, sha256: ContentHash(hex: "\(checksum)ff"),
            size: size, uploadedMilliseconds: time)
    }

    private func put(_ storage: OpenedStorage, _ assets: AssetRow...) async throws {
        try await storage.write { (transaction) throws(ServerError) in
            for asset in assets { try transaction.putAsset(asset) }
        }
    }

    private func refer(
        _ storage: OpenedStorage, _ zone: ZoneRow, _ record: String, _ checksums: [Text]
    ) async throws {
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putAssetReferences(zone.handle, from: RecordName(record), checksums)
        }
    }

    private func unreferenced(_ storage: OpenedStorage) async throws -> [Text] {
        try await storage.read { (reader) throws(ServerError) in
            try reader.unreferencedAssets(before: 5_000, limit: 10).map(\.fileChecksum)
        }
    }

    private func used(_ storage: OpenedStorage) async throws -> Int64 {
        try await storage.read { (reader) throws(ServerError) in
            try reader.usedBytes(.user(Sample.alice))
        }
    }

    @Test(
        "an asset belongs to a database, and its content to the server",
        arguments: StorageSubject.all)
    func roundTrip(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let other = DatabaseKey(container: Sample.container, owner: Sample.bob)
        try await put(storage, Self.asset("a"))
        try await put(storage, Self.asset("a", at: 20))
        let (found, foreign, isKnown, isUnknown) = try await storage.read {
            (reader) throws(ServerError) in
            (
                try reader.asset(Sample.database, fileChecksum: "a"),
                try reader.asset(other, fileChecksum: "a"),
                try reader.isContentKnown(ContentHash(hex: "aff")),
                try reader.isContentKnown(ContentHash(hex: "bff"))
            )
        }
        #expect(found == Self.asset("a", at: 20))
        #expect(foreign == nil)
        #expect(isKnown)
        #expect(!isUnknown)
    }

    @Test(
        "bytes that nothing refers to are counted, whatever becomes of them",
        arguments: StorageSubject.all)
    func unsaved(subject: StorageSubject) async throws {
        let storage = try subject.open()
        func unsaved(_ holder: QuotaHolder = .user(Sample.alice)) async throws -> Int64 {
            try await storage.read { (reader) throws(ServerError) in
                try reader.unsavedBytes(holder)
            }
        }
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("r", 1)])
        let foreign = DatabaseKey(container: Sample.container, owner: .everyone)
        try await put(
            storage, Self.asset("a", size: 1_000), Self.asset("b", size: 1, at: 3),
            Self.asset("a", size: 1_000, in: foreign))
        // The smallest file has a block on the disk.
        #expect(try await unsaved() == 1_512)
        #expect(try await unsaved(.publicDatabase(foreign)) == 1_000)
        try await refer(storage, zone, "r", ["a", "b"])
        #expect(try await unsaved() == 0)
        try await put(storage, Self.asset("a", size: 1_000, at: 30))
        #expect(try await unsaved() == 0)
        try await refer(storage, zone, "r", ["a"])
        #expect(try await unsaved() == 512)
        try await storage.put([Sample.tombstone("r", 2)])
        #expect(try await unsaved() == 1_512)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteAssets([Self.asset("a")])
        }
        #expect(try await unsaved() == 512)
    }

    @Test(
        "an asset is unreferenced when no record refers to it any more",
        arguments: StorageSubject.all)
    func counting(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("r", 1), Sample.record("s", 2)])
        try await put(
            storage, Self.asset("a", at: 3), Self.asset("b", at: 2), Self.asset("c", at: 1))
        #expect(try await unreferenced(storage) == ["c", "b", "a"])
        try await refer(storage, zone, "r", ["a", "b", "a"])
        try await refer(storage, zone, "s", ["a"])
        #expect(try await unreferenced(storage) == ["c"])
        // A second upload of the same bytes keeps the references.
        try await put(storage, Self.asset("a", at: 4))
        try await refer(storage, zone, "r", ["b"])
        #expect(try await unreferenced(storage) == ["c"])
        let (does, doesNot) = try await storage.read { (reader) throws(ServerError) in
            (
                try reader.refers(zone.handle, RecordName("s"), to: "a"),
                try reader.refers(zone.handle, RecordName("r"), to: "a")
            )
        }
        #expect(does)
        #expect(!doesNot)
        try await refer(storage, zone, "s", [])
        #expect(try await unreferenced(storage) == ["c", "a"])
        try await storage.put([Sample.tombstone("r", 3)])
        #expect(try await unreferenced(storage) == ["c", "b", "a"])
        let recent = try await storage.read { (reader) throws(ServerError) in
            try reader.unreferencedAssets(before: 2, limit: 10).map(\.fileChecksum)
        }
        #expect(recent == ["c"])
    }

    @Test(
        "what a record had is known as such, and kept for as long after it was given up",
        arguments: StorageSubject.all)
    func released(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        let other = DatabaseKey(container: Sample.container, owner: Sample.bob)
        try await storage.put([Sample.record("r", 1)])
        try await put(storage, Self.asset("a"), Self.asset("b"), Self.asset("a", in: other))
        func expect(saved: [Text], released: [Text], removable: [Text]) async throws {
            let found = try await storage.read { (reader) throws(ServerError) in
                let holder = QuotaHolder.user(Sample.alice)
                var saved: [Text] = []
                for checksum in ["a", "b"] as [Text]
                where try reader.savedAsset(Sample.database, fileChecksum: checksum) != nil {
                    saved.append(checksum)
                }
                #expect(try reader.savedAsset(other, fileChecksum: "a") == nil)
                return (
                    saved,
                    try reader.releasedAssets(holder, uploadedBefore: 11, limit: 9),
                    try reader.releasedAssets(holder, uploadedBefore: 10, limit: 9),
                    // The tombstone is of 1002.
                    try reader.unreferencedAssets(before: 1_002, limit: 9),
                    try reader.unreferencedAssets(before: 1_003, limit: 9)
                )
            }
            #expect(found.0 == saved)
            #expect(found.1.map(\.fileChecksum) == released && found.2.isEmpty)
            let mine: [[Text]] = [found.3, found.4].map { assets in
                assets.filter { $0.database == Sample.database }.map(\.fileChecksum).sorted()
            }
            #expect(mine[0] == ["a", "b"].filter { !saved.contains($0) })
            #expect(mine[1] == removable)
        }
        try await expect(saved: [], released: [], removable: ["a", "b"])
        try await refer(storage, zone, "r", ["a"])
        try await expect(saved: ["a"], released: [], removable: ["b"])
        try await storage.put([Sample.tombstone("r", 2)])
        try await expect(saved: ["a"], released: ["a"], removable: ["a", "b"])
        // Bytes that come anew were never saved.
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteAssets([Self.asset("a")])
        }
        try await put(storage, Self.asset("a"))
        try await expect(saved: [], released: [], removable: ["a", "b"])
    }

    @Test("an asset that is referred to is not deleted", arguments: StorageSubject.all)
    func delete(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("r", 1)])
        try await put(storage, Self.asset("a"), Self.asset("b"))
        try await refer(storage, zone, "r", ["a"])
        let rest = try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteAssets(["a", "b", "c"].map { Self.asset($0) })
            return [
                try transaction.asset(Sample.database, fileChecksum: "a"),
                try transaction.asset(Sample.database, fileChecksum: "b"),
            ]
        }
        #expect(rest == [Self.asset("a"), nil])
    }

    @Test(
        "a reference to an asset that is not in the database is refused",
        arguments: StorageSubject.all)
    func absent(subject: StorageSubject) async throws {
        let storage = try subject.open()
        let zone = try await storage.makeZone()
        try await storage.put([Sample.record("r", 1)])
        let other = DatabaseKey(container: Sample.container, owner: Sample.bob)
        try await put(storage, Self.asset("a", in: other))
        await #expect(throws: ServerError.self) {
            try await refer(storage, zone, "r", ["a"])
        }
    }

    @Test(
        "a user uses the bytes of records and of assets, once in each zone, over containers",
        arguments: StorageSubject.all)
    func usage(subject: StorageSubject) async throws {
        let storage = try subject.open()
        var zone = try await storage.makeZone()
        let other = DatabaseKey(container: Sample.production, owner: Sample.alice)
        var second = try await storage.makeZone(
            ZoneKey(database: other, zone: ZoneName("Work")))
        zone.recordBytes = 7
        second.recordBytes = 5
        let rows = [zone, second]
        try await storage.write { (transaction) throws(ServerError) in
            for row in rows { try transaction.updateZone(row) }
        }
        #expect(try await used(storage) == 12)
        try await storage.write { (transaction) throws(ServerError) in
            for (row, names) in [(rows[0], ["r", "s"]), (rows[1], ["r"])] {
                for name in names {
                    try transaction.put(row.handle, Sample.record(name, 1))
                }
            }
        }
        try await put(storage, Self.asset("a", size: 100), Self.asset("b", size: 30))
        try await put(storage, Self.asset("a", size: 100, in: other))
        #expect(try await used(storage) == 12)
        try await refer(storage, zone, "r", ["a", "b"])
        try await refer(storage, zone, "s", ["a"])
        #expect(try await used(storage) == 142)
        try await refer(storage, second, "r", ["a"])
        #expect(try await used(storage) == 242)
        try await refer(storage, zone, "r", [])
        #expect(try await used(storage) == 212)
        try await refer(storage, zone, "s", [])
        #expect(try await used(storage) == 112)
        let gone = second
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.deleteZone(gone, reason: .deleted)
        }
        #expect(try await used(storage) == 7)
    }
}
