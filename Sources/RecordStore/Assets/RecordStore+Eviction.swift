import Glibc
package import RecordModel
import RecordSQL
import Synchronization

extension RecordStore {
    /// Gives back the space of large fields' files that the server has too, those that were read
    /// longest ago first, until the rest of them has at most `limit` bytes. Their records go on listing
    /// them, and the bytes come again when they are read. Gives how many were removed.
    ///
    /// A file that anything else needs stays, and does not count: what was not sent, is of `local`, in the
    /// trash, or in a version of another record.
    /// Errors: those of the store.
    @discardableResult
    package func evictAssets(keeping limit: Int64) throws(RecordError) -> Int {
        let files = AssetFiles(places: places)
        var held = try read { connection throws(RecordError) in
            try connection.evictableAssets()
        }.map { (hash: $0.hash, size: $0.size, used: files.lastUse(of: $0.hash)) }
        var rest = held.reduce(0) { $0 + $1.size }
        guard rest > limit else { return 0 }
        held.sort { $0.used < $1.used }
        var evicted = 0
        for asset in held {
            guard rest > limit else { break }
            if try evict(asset.hash) { evicted += 1 }
            rest -= asset.size
        }
        // A crash before this leaves files that nobody says are here: the next collection has them.
        try collectAssets()
        return evicted
    }

    /// Whether the file is given up: it may be needed since it was listed.
    private func evict(_ hash: ContentHash) throws(RecordError) -> Bool {
        try write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            let connection = transaction.connection
            guard !self.assetsInFlight.withLock({ $0.contains(hash) }),
                try !connection.evictableAssets(hash).isEmpty
            else { return false }
            let name: [SQLValue] = [.text(hash.hex)]
            try connection.run("UPDATE asset SET downloaded = 0 WHERE hash = ?", name)
            try connection.run("UPDATE kept_asset SET downloaded = 0 WHERE hash = ?", name)
            try connection.noteLoose(hash)
            return true
        }
    }
}

extension SQLConnection {
    /// Files of which every holder is a record, or a version of it, whose values the server has
    /// acknowledged with this file and of which nothing is to be sent.
    ///
    /// - Parameter hash: nil for all.
    fileprivate func evictableAssets(
        _ hash: ContentHash? = nil
    ) throws(RecordError) -> [(hash: ContentHash, size: Int64)] {
        try all(
            """
            SELECT a.hash, a.size FROM asset a
            WHERE a.downloaded = 1 AND a.kind = 0 AND a.hash IS NOT NULL
                AND (?1 IS NULL OR a.hash = ?1)
            GROUP BY a.hash
            HAVING MIN(EXISTS (
                SELECT 1 FROM record r JOIN zone z ON z.id = r.zone_id
                JOIN base b ON b.record_id = r.id
                JOIN kept_asset k ON k.holder = 0 AND k.holder_id = b.version
                    AND k.field = a.field AND k.idx = a.idx AND k.hash = a.hash
                WHERE r.id = a.record_id AND r.state = 0 AND z.database != ?2
                    AND NOT EXISTS (SELECT 1 FROM outbox o
                        WHERE o.zone_id = r.zone_id AND o.name = r.name)))
                AND NOT EXISTS (
                    SELECT 1 FROM kept_asset k
                    LEFT JOIN history h ON k.holder = 0 AND h.token = k.holder_id
                    WHERE k.hash = a.hash AND k.downloaded = 1 AND NOT EXISTS (
                        SELECT 1 FROM asset s JOIN record r ON r.id = s.record_id
                        WHERE s.hash = k.hash AND r.zone_id = h.zone_id AND r.name = h.name))
            """,
            [.optional(hash?.hex), .integer(Int64(Database.local.rawValue))]
        ) { (ContentHash(hex: $0.string(0)), $0.int64(1)) }
    }
}

extension AssetFiles {
    /// When the file was read last, as the file system tells it, in nanoseconds: some note it once a day,
    /// or never; then when it was placed.
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
