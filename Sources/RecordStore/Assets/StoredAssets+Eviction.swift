import Glibc
package import RecordModel
import RecordSQL
import Synchronization

extension StoredAssets {
    /// Frees the space of large fields' files that the server has too, those that were read longest
    /// ago first, until the rest of them has at most `limit` bytes. Their records still list them,
    /// and the bytes are downloaded again when they are read. Returns the number of removed files.
    ///
    /// A file that anything else needs stays, and does not count: a file that was not sent, belongs
    /// to `local`, is in the trash, is pinned, or is in a version of another record. Errors: those
    /// of the store.
    @discardableResult
    package func evictAssets(keeping limit: Int64) throws(RecordError) -> Int {
        let files = AssetFiles(places: store.places)
        var held: [(hash: ContentHash, size: Int64, used: Int64)] = []
        // This does not delay other readers; with many files it takes a while.
        try store.readSnapshot { connection throws(RecordError) in
            guard try connection.bytesOfDownloadedAssets() > limit else { return }
            held = try connection.evictableAssets().map {
                ($0.hash, $0.size, files.lastUse(of: $0.hash))
            }
        }
        var rest = held.reduce(0) { $0 + $1.size }
        guard rest > limit else { return 0 }
        held.sort { $0.used < $1.used }
        var evicted = 0
        for asset in held {
            guard rest > limit else { break }
            if try evict(asset.hash) { evicted += 1 }
            rest -= asset.size
        }
        // No file is removed before it is on the disk that no row says any more that the file is
        // here. A crash now leaves files that the next collection removes.
        try store.sync()
        try collectAssets()
        return evicted
    }

    /// Returns whether the server has the bytes of a missing file. Then they are downloaded from
    /// there again, and all rows say so.
    package func noteMissingAsset(_ hash: ContentHash) throws(RecordError) -> Bool {
        guard sizeOfAsset(hash) == nil, try !recordsOfServer(with: hash).isEmpty else {
            return false
        }
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            guard self.sizeOfAsset(hash) == nil else { return }
            try transaction.connection.setDownloaded(false, hash)
        }
        return true
    }

    /// Gives up a file. Returns whether it did: the file may be needed since it was listed.
    private func evict(_ hash: ContentHash) throws(RecordError) -> Bool {
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            let connection = transaction.connection
            guard !self.store.assetsInFlight.withLock({ $0.contains(hash) }),
                try !connection.evictableAssets(hash).isEmpty
            else { return false }
            try connection.setDownloaded(false, hash)
            try connection.noteLoose(hash)
            return true
        }
    }
}

extension SQLConnection {
    /// Returns the bytes of files that are marked as being here, whatever needs them.
    fileprivate func bytesOfDownloadedAssets() throws(RecordError) -> Int64 {
        try first(
            """
            SELECT SUM(size) FROM (SELECT size FROM asset
                WHERE downloaded = 1 AND kind = 0 AND hash IS NOT NULL GROUP BY hash)
            """
        ) { $0.int64IfPresent(0) ?? 0 } ?? 0
    }

    /// Returns the files that only records, or their versions, refer to, where the server has
    /// acknowledged the record's values with this file and no change of the record has to be sent.
    /// While the server may be behind the acknowledged state of a zone, the zone's files are left
    /// out.
    ///
    /// Each holder is looked up by its key (the order of the joins, and the plus signs): many
    /// records may have the same bytes.
    ///
    /// - Parameter hash: nil for all files.
    fileprivate func evictableAssets(
        _ hash: ContentHash? = nil
    ) throws(RecordError) -> [(hash: ContentHash, size: Int64)] {
        try all(
            """
            SELECT a.hash, a.size FROM asset a
            WHERE a.downloaded = 1 AND a.kind = 0
                AND a.hash \(hash == nil ? "IS NOT NULL AND ?1 IS NULL" : "= ?1")
            GROUP BY a.hash
            HAVING MIN(EXISTS (
                SELECT 1 FROM record r CROSS JOIN zone z ON z.id = r.zone_id
                CROSS JOIN base b ON b.record_id = r.id
                CROSS JOIN kept_asset k ON k.holder = 0 AND k.holder_id = b.version
                    AND k.field = a.field AND k.idx = a.idx AND +k.hash = a.hash
                WHERE r.id = a.record_id AND r.state = 0 AND z.database != ?2
                    AND NOT \(Columns.isPinned)
                    AND NOT EXISTS (SELECT 1 FROM feed_pass p WHERE p.zone_id = r.zone_id)
                    AND NOT EXISTS (SELECT 1 FROM outbox o
                        WHERE o.zone_id = r.zone_id AND o.name = r.name)))
                AND NOT EXISTS (
                    SELECT 1 FROM kept_asset k
                    LEFT JOIN history h ON k.holder = 0 AND h.token = k.holder_id
                    WHERE k.hash = a.hash AND k.downloaded = 1 AND NOT EXISTS (
                        SELECT 1 FROM record r
                        CROSS JOIN asset s ON s.record_id = r.id AND +s.hash = k.hash
                        WHERE r.zone_id = h.zone_id AND r.name = h.name AND r.name IS NOT NULL))
            """,
            [.optional(hash?.hex), .integer(Int64(Database.local.rawValue))]
        ) { (ContentHash(hex: $0.string(0)), $0.int64(1)) }
    }
}

extension AssetFiles {
    /// Returns the time when the file was last read, as the file system reports it, in nanoseconds.
    /// Some file systems note it once a day, or never; then it is the time when the file was
    /// placed.
    fileprivate func lastUse(of hash: ContentHash) -> Int64 {
        var information = stat()
        guard lstat(path(of: hash), &information) == 0 else { return 0 }
        return max(information.st_atim.nanoseconds, information.st_ctim.nanoseconds)
    }
}

extension timespec {
    fileprivate var nanoseconds: Int64 {
        let (seconds, isTooLarge) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLarge ? 0 : seconds &+ Int64(tv_nsec)
    }
}
