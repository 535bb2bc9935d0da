import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLiteAccess {
    func asset(
        _ database: DatabaseKey, fileChecksum: Text
    ) throws(ServerError) -> AssetRow? {
        try asset(database, fileChecksum, where: "true")
    }

    func savedAsset(
        _ database: DatabaseKey, fileChecksum: Text
    ) throws(ServerError) -> AssetRow? {
        try asset(database, fileChecksum, where: "reference_count > 0 OR released > 0")
    }

    private func asset(
        _ database: DatabaseKey, _ fileChecksum: Text, where condition: String
    ) throws(ServerError) -> AssetRow? {
        guard let number = try number(of: database) else { return nil }
        return try first(
            """
            SELECT checksum, sha256, size, uploaded FROM assets
            WHERE database = ? AND checksum = ? AND (\(condition))
            """, [.integer(number), .text(fileChecksum)]
        ) { Self.asset($0, database) }
    }

    private static func asset(_ row: SQLStatement, _ database: DatabaseKey) -> AssetRow {
        AssetRow(
            database: database, fileChecksum: row.value(0),
            sha256: ContentHash(hex: row.string(1)), size: row.int64(2),
            uploadedMilliseconds: row.int64(3))
    }

    /// Reads an asset from a row that has the database after the columns of the asset.
    private static func assetOfDatabase(_ row: SQLStatement) -> AssetRow {
        let container = ContainerKey(
            container: row.value(4), environment: ServerEnvironment(number: row.int64(5)))
        return asset(row, DatabaseKey(container: container, owner: row.name(6)))
    }

    func refers(
        _ zone: ZoneHandle, _ record: RecordName, to fileChecksum: Text
    ) throws(ServerError) -> Bool {
        try exists(
            """
            SELECT 1 FROM zones z
            CROSS JOIN assets a ON a.database = z.database AND a.checksum = ?3
            CROSS JOIN records r ON r.zone = z.id AND r.name = ?2
            CROSS JOIN asset_references f
                ON f.zone = z.id AND f.asset = a.id AND f.record = r.id
            WHERE z.id = ?1
            """, [.zone(zone), .name(record), .text(fileChecksum)])
    }

    func unreferencedAssets(
        before milliseconds: Int64, limit: Int
    ) throws(ServerError) -> [AssetRow] {
        try all(
            """
            SELECT a.checksum, a.sha256, a.size, a.uploaded, d.container, d.environment, d.owner
            FROM assets a CROSS JOIN databases d ON d.id = a.database
            WHERE a.reference_count = 0 AND a.uploaded < ?1 AND a.released < ?1
            ORDER BY a.uploaded LIMIT ?2
            """, [.integer(milliseconds), .limit(limit)]
        ) { Self.assetOfDatabase($0) }
    }

    func releasedAssets(
        _ holder: QuotaHolder, uploadedBefore milliseconds: Int64, limit: Int
    ) throws(ServerError) -> [AssetRow] {
        let (condition, values) = Self.databases(of: holder)
        return try all(
            """
            SELECT a.checksum, a.sha256, a.size, a.uploaded, d.container, d.environment, d.owner
            FROM databases d CROSS JOIN assets a ON a.database = d.id
            WHERE \(condition) AND a.reference_count = 0 AND a.released > 0 AND a.uploaded < ?
            LIMIT ?
            """, values + [.integer(milliseconds), .limit(limit)]
        ) { Self.assetOfDatabase($0) }
    }

    func isContentKnown(_ sha256: ContentHash) throws(ServerError) -> Bool {
        try exists("SELECT 1 FROM assets WHERE sha256 = ? LIMIT 1", [.text(sha256.hex)])
    }

    func usedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64 {
        try first(
            """
            SELECT used_bytes FROM quota_holders
            WHERE owner = ? AND container = ? AND environment = ?
            """, Self.key(of: holder)
        ) { $0.int64(0) } ?? 0
    }

    func unsavedBytes(_ holder: QuotaHolder) throws(ServerError) -> Int64 {
        let (condition, values) = Self.databases(of: holder)
        return try first(
            "SELECT coalesce(sum(d.unsaved_bytes), 0) FROM databases d WHERE \(condition)", values
        ) { $0.int64(0) } ?? 0
    }

    /// Returns the key of a quota holder. A user has one quota in all containers.
    private static func key(of holder: QuotaHolder) -> [SQLValue] {
        switch holder {
        case .user(let name): [.name(name), .blob([]), .integer(0)]
        case .publicDatabase(let database): [.name(database.owner)] + database.container.values
        }
    }

    /// Returns the number of the quota holder of this database, and makes it when it is missing.
    func makeQuotaHolder(_ database: DatabaseKey) throws(ServerError) -> Int64 {
        let key = Self.key(of: QuotaHolder(database))
        try run(
            """
            INSERT OR IGNORE INTO quota_holders (owner, container, environment) VALUES (?, ?, ?)
            """, key)
        let number = try first(
            """
            SELECT id FROM quota_holders WHERE owner = ? AND container = ? AND environment = ?
            """, key
        ) { $0.int64(0) }
        guard let number else { throw damaged("a holder of a quota is missing") }
        return number
    }

    private static func databases(of holder: QuotaHolder) -> (sql: String, values: [SQLValue]) {
        switch holder {
        case .user(let name): ("d.owner = ?", [.name(name)])
        case .publicDatabase(let database):
            ("d.container = ? AND d.environment = ? AND d.owner = ?", database.values)
        }
    }

    func putAsset(_ asset: AssetRow) throws(ServerError) {
        try run(
            """
            INSERT INTO assets (database, checksum, sha256, size, uploaded)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (database, checksum) DO UPDATE SET
                sha256 = excluded.sha256, size = excluded.size, uploaded = excluded.uploaded
            """,
            [
                .integer(try makeNumber(of: asset.database)), .text(asset.fileChecksum),
                .text(asset.sha256.hex), .integer(asset.size),
                .integer(asset.uploadedMilliseconds),
            ])
    }

    func deleteAssets(_ assets: [AssetRow]) throws(ServerError) {
        for asset in assets {
            guard let number = try number(of: asset.database) else { continue }
            try run(
                "DELETE FROM assets WHERE database = ? AND checksum = ? AND reference_count = 0",
                [.integer(number), .text(asset.fileChecksum)])
        }
    }

    func putAssetReferences(_ zone: ZoneHandle, _ records: [RecordAssets]) throws(ServerError) {
        for item in records {
            let key = RecordKey(zone: zone, name: item.record)
            if item.fileChecksums.isEmpty, try place(key) == nil { continue }
            var place = try requirePlace(key)
            try replaceAssets(zone, &place, item.fileChecksums)
            places[key] = place
        }
    }

    func replaceAssets(
        _ zone: ZoneHandle, _ place: inout RecordPlace, _ fileChecksums: [Text]
    ) throws(ServerError) {
        let old = place.hasAssets ? try assets(of: place.id) : []
        var new: Set<Int64> = []
        for checksum in fileChecksums { new.insert(try assetNumber(zone, checksum)) }
        for asset in old.subtracting(new) { try release(asset, zone, place.id) }
        for asset in new.subtracting(old) { try refer(asset, zone, place.id) }
        place.hasAssets = !new.isEmpty
    }

    private func assets(of record: Int64) throws(ServerError) -> Set<Int64> {
        Set(
            try all(
                "SELECT asset FROM asset_references WHERE record = ?", [.integer(record)]
            ) { $0.int64(0) })
    }

    private func assetNumber(
        _ zone: ZoneHandle, _ checksum: Text
    ) throws(ServerError) -> Int64 {
        let number = try first(
            """
            SELECT a.id FROM zones z
            CROSS JOIN assets a ON a.database = z.database AND a.checksum = ?
            WHERE z.id = ?
            """, [.text(checksum), .zone(zone)]
        ) { $0.int64(0) }
        guard let number else {
            throw ServerError(.internalError, "A record cannot refer to an asset not there.")
        }
        return number
    }

    /// Adds a reference. The size counts once in each zone, so that the part of a deleted zone is
    /// known at once.
    private func refer(
        _ asset: Int64, _ zone: ZoneHandle, _ record: Int64
    ) throws(ServerError) {
        try count(asset, zone, sign: 1)
        try run(
            "INSERT INTO asset_references (zone, asset, record) VALUES (?, ?, ?)",
            [.zone(zone), .integer(asset), .integer(record)])
        try run(
            "UPDATE assets SET reference_count = reference_count + 1 WHERE id = ?",
            [.integer(asset)])
    }

    private func release(
        _ asset: Int64, _ zone: ZoneHandle, _ record: Int64
    ) throws(ServerError) {
        try run(
            "DELETE FROM asset_references WHERE zone = ? AND asset = ? AND record = ?",
            [.zone(zone), .integer(asset), .integer(record)])
        try run(
            """
            UPDATE assets SET reference_count = reference_count - 1, released = max(
                1, released, coalesce((SELECT modified FROM records WHERE id = ?2), 0))
            WHERE id = ?1
            """, [.integer(asset), .integer(record)])
        try count(asset, zone, sign: -1)
    }

    /// Adds the asset's size to the used bytes of the zone when nothing in the zone refers to the
    /// asset.
    private func count(_ asset: Int64, _ zone: ZoneHandle, sign: Int64) throws(ServerError) {
        try run(
            """
            UPDATE zones SET asset_bytes
                = asset_bytes + ?3 * (SELECT size FROM assets WHERE id = ?2)
            WHERE id = ?1 AND NOT EXISTS (
                SELECT 1 FROM asset_references WHERE zone = ?1 AND asset = ?2)
            """, [.zone(zone), .integer(asset), .integer(sign)])
    }
}
