import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The counts that an operator sees, and the removal of users and containers.
struct OperatorStatements {
    let access: SQLiteAccess

    func databases(of owner: UserName) throws(ServerError) -> [DatabaseKey] {
        try access.all(
            "SELECT container, environment FROM databases WHERE owner = ? ORDER BY id",
            [.name(owner)]
        ) { row in
            DatabaseKey(
                container: ContainerKey(
                    container: row.value(0), environment: ServerEnvironment(number: row.int64(1))),
                owner: owner)
        }
    }

    func counts(of container: Text) throws(ServerError) -> ContainerCounts {
        var counts = ContainerCounts()
        (counts.zones, counts.records) =
            try access.first(
                """
                SELECT COUNT(*), coalesce(SUM(z.record_count), 0)
                FROM databases d JOIN zones z ON z.database = d.id AND z.deleted = 0
                WHERE d.container = ?
                """, [.text(container)]
            ) { ($0.int64(0), $0.int64(1)) } ?? (0, 0)
        counts.tokens = try count("api_tokens", "container = ? AND revoked = 0", container)
        counts.keys = try count("server_keys", "container = ? AND revoked = 0", container)
        counts.sessions = try count("sessions", "container = ? AND revoked = 0", container)
        return counts
    }

    private func count(_ table: String, _ condition: String, _ value: Text)
        throws(ServerError) -> Int64
    {
        try access.first("SELECT COUNT(*) FROM \(table) WHERE \(condition)", [.text(value)]) {
            $0.int64(0)
        } ?? 0
    }

    func removeUser(_ user: UserName) throws(ServerError) {
        try access.run(
            """
            DELETE FROM push_frames WHERE device IN (SELECT id FROM push_devices WHERE user = ?)
            """, [.name(user)])
        for table in [
            "push_devices", "subscriptions", "sessions", "server_keys", "roles", "account_events",
            "blocked_owners", "access_requests",
        ] {
            try access.run("DELETE FROM \(table) WHERE user = ?", [.name(user)])
        }
        try access.run("DELETE FROM users WHERE name = ?", [.name(user)])
    }

    func removeContainer(_ name: Text) throws(ServerError) {
        try access.run(
            """
            DELETE FROM push_frames
            WHERE device IN (SELECT id FROM push_devices WHERE container = ?)
            """, [.text(name)])
        for table in [
            "push_devices", "subscriptions", "sessions", "server_keys", "api_tokens", "roles",
            "schemas",
        ] {
            try access.run("DELETE FROM \(table) WHERE container = ?", [.text(name)])
        }
        try access.run("DELETE FROM containers WHERE name = ?", [.text(name)])
    }

    func numberedShareReports(limit: Int) throws(ServerError) -> [(number: Int64, ShareReport)] {
        try access.all(
            """
            SELECT container, environment, owner, zone, share, short_guid, reporter, at, text, id
            FROM share_reports ORDER BY id DESC LIMIT ?
            """, [.limit(limit)]
        ) { ($0.int64(9), SharePeopleStatements.shareReport($0)) }
    }

    func removeShareReport(_ number: Int64) throws(ServerError) -> Bool {
        try access.run("DELETE FROM share_reports WHERE id = ?", [.integer(number)])
        return access.changedRows == 1
    }
}
