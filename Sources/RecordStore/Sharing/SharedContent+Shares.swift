package import RecordModel
import RecordSQL

extension SharedContent {
    /// Keeps the shares that a page reports, and sets the zone's permission accordingly. Deleted
    /// shares are among the page's changes.
    package func noteShares(of page: RemotePage) throws(RecordError) {
        let zone = SQLValue.integer(page.zone.rawValue)
        let hasShares = try transaction.connection.exists(
            "SELECT 1 FROM share WHERE zone_id = ?", [zone])
        guard hasShares || !page.shares.isEmpty else { return }
        var isChanged = false
        for change in page.changes {
            guard case .delete = change.operation else { continue }
            if try remove(change.name, of: zone) { isChanged = true }
        }
        var news: [ShareNews] = []
        for share in page.shares {
            guard let new = try keep(share, of: zone) else { continue }
            isChanged = true
            news += new
        }
        if isChanged { note(news, of: page.zone) }
        try updatePermission(of: page.zone)
    }

    /// Keeps the server's answer to a change of a share, before the feed reports the change.
    package func noteShare(_ share: Share, of zone: ZoneID) throws(RecordError) {
        // An action of this user is no news.
        if try keep(share, of: .integer(zone.rawValue)) != nil { note([], of: zone) }
    }

    /// Removes a share of this account that the server has ended.
    package func noteShareEnded(_ name: RecordName, of zone: ZoneID) throws(RecordError) {
        if try remove(name, of: .integer(zone.rawValue)) { note([], of: zone) }
    }

    /// Notes that somebody has removed a share's file, or has written it again. The share of a
    /// removed file ends when the grace time is over, even if this process has ended by then.
    package func setEnding(
        _ isEnding: Bool, shareOf root: RecordName?, in zone: ZoneID
    ) throws(RecordError) {
        let key: [SQLValue] = [.integer(zone.rawValue), root.map { .name($0) } ?? .null]
        if !isEnding {
            // If the share still exists, the pass of the feed reports it.
            try transaction.connection.run(
                "DELETE FROM share WHERE zone_id = ? AND root IS ? AND ending = 2", key)
        }
        try transaction.connection.run(
            """
            UPDATE share SET ending = CASE WHEN ?3 THEN max(ending, 1) ELSE 0 END
            WHERE zone_id = ?1 AND root IS ?2
            """, key + [.bool(isEnding)])
        // Changes that waited for this may be sent.
        if !isEnding { note([], of: zone) }
    }

    package func note(_ news: [ShareNews], of zone: ZoneID) {
        transaction.note(.share, zone: zone)
        transaction.changes[transaction.changes.count - 1].shareNews = news
    }

    /// Removes a share.
    ///
    /// - Returns: whether it existed.
    private func remove(_ name: RecordName, of zone: SQLValue) throws(RecordError) -> Bool {
        try transaction.connection.run(
            "DELETE FROM share WHERE zone_id = ? AND name = ?", [zone, .name(name)])
        return transaction.connection.changedRows > 0
    }

    /// Stores a share.
    ///
    /// - Returns: the actions of other users; nil when the share is as before.
    private func keep(_ share: Share, of zone: SQLValue) throws(RecordError) -> [ShareNews]? {
        let before = try transaction.connection.first(
            "SELECT \(Columns.share) FROM share WHERE zone_id = ? AND name = ?",
            [zone, .name(share.name)]
        ) { $0.share() }
        try transaction.connection.run(
            "UPDATE share SET ending = 1 WHERE zone_id = ? AND name = ? AND ending = 2",
            [zone, .name(share.name)])
        if let before,
            (before.root, before.permission, before.text)
                == (share.root, share.permission, share.text)
        {
            return nil
        }
        try transaction.connection.run(
            """
            INSERT INTO share (zone_id, name, root, permission, text, changed)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET root = excluded.root, permission = excluded.permission,
                text = excluded.text, changed = excluded.changed
            """,
            [
                zone, .name(share.name), share.root.map { .name($0) } ?? .null,
                .integer(share.permission.rawValue), .blob(share.text), .time(transaction.now),
            ])
        guard let before else { return [] }
        return try ShareNews.between(before.text, share.text, root: share.root)
    }

    /// Sets the permission of this user in another user's zone. It is the permission of the zone's
    /// share, or, where single records are shared, the permission of their shares if these are the
    /// same.
    private func updatePermission(of zone: ZoneID) throws(RecordError) {
        guard
            let info = try transaction.connection.records.zone(zone), info.database == .shared
        else { return }
        let shares = try transaction.connection.all(
            "SELECT \(Columns.share) FROM share WHERE zone_id = ?", [.integer(zone.rawValue)]
        ) { $0.share() }
        let mayWrite = shares.contains { $0.permission == .readWrite }
        let mayOnlyRead = shares.contains { $0.permission == .readOnly }
        let allowed: ZoneInfo.Permission =
            if mayWrite && mayOnlyRead && shares.allSatisfy({ $0.root != nil }) {
                .mixed
            } else {
                mayWrite ? .readWrite : .readOnly
            }
        if allowed != info.permission { try transaction.setPermission(allowed, of: zone) }
    }

    package func forgetShares(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM share WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    /// Forgets the shares of a zone, because its feed starts again and reports those that exist. A
    /// share whose file was removed here stays until the end of the pass (`ending` is 2): it must
    /// not come back, and nothing below it may be deleted.
    package func forgetSharesUntilTold(of zone: ZoneID) throws(RecordError) {
        let zone = SQLValue.integer(zone.rawValue)
        try transaction.connection.run(
            "DELETE FROM share WHERE zone_id = ? AND ending = 0", [zone])
        try transaction.connection.run(
            "UPDATE share SET ending = 2 WHERE zone_id = ?", [zone])
    }

    /// Forgets the shares that the pass of the feed has not reported.
    package func forgetUntoldShares(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM share WHERE zone_id = ? AND ending = 2", [.integer(zone.rawValue)])
        guard transaction.connection.changedRows > 0 else { return }
        note([], of: zone)
        try updatePermission(of: zone)
    }
}

extension SyncRows {
    /// Returns whether a share contains everything in the zone.
    package func isSharedWhole(_ zone: ZoneID) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM share WHERE zone_id = ? AND root IS NULL", [.integer(zone.rawValue)])
    }
}

extension SharedZones {
    /// Returns the shares of a zone, the share of the whole zone first.
    package func shares(in zone: ZoneID) throws(RecordError) -> [Share] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.share) FROM share WHERE zone_id = ?
                ORDER BY root IS NOT NULL, name
                """, [.integer(zone.rawValue)]
            ) { $0.share() }
        }
    }

    /// Returns the shares whose files were removed here and which have not ended yet, each for a
    /// record or for the zone.
    package func endingShares() throws(RecordError) -> [(zone: ZoneID, root: RecordName?)] {
        try store.read { connection throws(RecordError) in
            try connection.all("SELECT zone_id, root FROM share WHERE ending != 0") { row in
                (ZoneID(row.int64(0)), row.bytesIfPresent(1).map { RecordName(bytes: $0) })
            }
        }
    }

    /// Returns the share of a record with its children, or of the whole zone.
    package func share(of root: RecordName?, in zone: ZoneID) throws(RecordError) -> Share? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.share) FROM share WHERE zone_id = ? AND root IS ?",
                [.integer(zone.rawValue), root.map { .name($0) } ?? .null]
            ) { $0.share() }
        }
    }
}
