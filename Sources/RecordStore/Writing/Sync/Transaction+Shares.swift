package import RecordModel
import RecordSQL

extension Transaction {
    /// Keeps the shares that a page tells of, and what the zone's modes say of them. Deleted ones are
    /// among the page's changes.
    func noteShares(of page: RemotePage) throws(RecordError) {
        let zone = SQLValue.integer(page.zone.rawValue)
        let hasShares = try connection.exists("SELECT 1 FROM share WHERE zone_id = ?", [zone])
        guard hasShares || !page.shares.isEmpty else { return }
        for change in page.changes {
            guard case .delete = change.operation else { continue }
            try connection.run(
                "DELETE FROM share WHERE zone_id = ? AND name = ?", [zone, .name(change.name)])
        }
        for share in page.shares {
            try connection.run(
                """
                INSERT OR REPLACE INTO share (zone_id, name, root, permission, text)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    zone, .name(share.name), share.root.map { .name($0) } ?? .null,
                    .integer(share.permission.rawValue), .blob(share.text),
                ])
        }
        try settlePermission(of: page.zone)
    }

    /// In another user's zone that may be written to which one of its shares allows it for. The server
    /// decides of each record.
    private func settlePermission(of zone: ZoneID) throws(RecordError) {
        guard
            let info = try connection.first(
                "SELECT \(Columns.zone) FROM zone WHERE id = ? AND removed = 0",
                [.integer(zone.rawValue)], { $0.zone() }), info.database == .shared
        else { return }
        let permission = try connection.first(
            "SELECT MIN(permission) FROM share WHERE zone_id = ?", [.integer(zone.rawValue)]
        ) { $0.int64IfPresent(0) }
        let allowed = (permission ?? nil).flatMap(ZoneInfo.Permission.init(rawValue:)) ?? .readOnly
        if allowed != info.permission { try setPermission(allowed, of: zone) }
    }

    func forgetShares(of zone: ZoneID) throws(RecordError) {
        try connection.run("DELETE FROM share WHERE zone_id = ?", [.integer(zone.rawValue)])
    }
}

extension RecordStore {
    /// The shares of a zone, that of the whole zone first.
    package func shares(in zone: ZoneID) throws(RecordError) -> [Share] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT name, root, permission, text FROM share WHERE zone_id = ?
                ORDER BY root IS NOT NULL, name
                """, [.integer(zone.rawValue)]
            ) { row in
                Share(
                    name: RecordName(bytes: row.bytes(0)),
                    root: row.isNull(1) ? nil : RecordName(bytes: row.bytes(1)),
                    permission: ZoneInfo.Permission(rawValue: row.int64(2)) ?? .readOnly,
                    text: row.bytes(3))
            }
        }
    }
}
