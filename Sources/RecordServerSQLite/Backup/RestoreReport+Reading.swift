import RecordModel
import RecordSQL
import RecordServerCore

extension RestoreReport {
    /// Returns a statement that gives name, place and detail of the items of a kind.
    private static func query(_ kind: Kind) -> String {
        switch kind {
        case .administrator, .user:
            """
            SELECT email_address, '', given_name || ' ' || family_name FROM users
            WHERE disabled = 0 AND administrator = \(kind == .user ? 0 : 1) ORDER BY email_address
            """
        case .token:
            """
            SELECT substr(hash, 1, 16), container || \(environment("")), name FROM api_tokens
            WHERE revoked = 0 ORDER BY container, created, hash
            """
        case .key:
            """
            SELECT substr(k.id, 1, 16), k.container || \(environment("k.")),
                k.name || ', as ' || coalesce(u.email_address, k.user)
            FROM server_keys k LEFT JOIN users u ON u.name = k.user
            WHERE k.revoked = 0 ORDER BY k.container, k.created, k.id
            """
        case .session:
            """
            SELECT coalesce(u.email_address, s.user), s.container || \(environment("s.")), s.label
            FROM sessions s LEFT JOIN users u ON u.name = s.user
            WHERE s.revoked = 0 ORDER BY 1, s.created, s.id
            """
        case .share:
            """
            SELECT s.name, \(sharePlace), 'public ' || s.public_permission FROM shares s
            \(shareJoins("s.zone")) ORDER BY z.id, s.name
            """
        case .participant:
            """
            SELECT coalesce(v.email_address, p.email_address, p.phone_number, p.user, ''),
                \(sharePlace), p.permission || ' ' || p.status || ' in ' || p.share
            FROM participants p LEFT JOIN users v ON v.name = p.user \(shareJoins("p.zone"))
            WHERE p.type <> 'OWNER' ORDER BY z.id, p.share, p.place
            """
        }
    }

    private static func environment(_ table: String) -> String {
        "CASE \(table)environment WHEN 0 THEN ' development' ELSE ' production' END"
    }

    private static let sharePlace =
        "coalesce(o.email_address, d.owner) || ' ' || z.name || ' in ' || d.container || "
        + environment("d.")

    private static func shareJoins(_ zone: String) -> String {
        """
        JOIN zones z ON z.id = \(zone) AND z.deleted = 0
        JOIN databases d ON d.id = z.database LEFT JOIN users o ON o.name = d.owner
        """
    }

    static func read(_ connection: SQLConnection) throws(RecordError) -> RestoreReport {
        var items: [Item] = []
        for kind in Kind.allCases {
            items += try connection.all(query(kind)) { row in
                Item(
                    kind: kind, name: Text(utf8: row.bytes(0)), place: Text(utf8: row.bytes(1)),
                    detail: Text(utf8: row.bytes(2)))
            }
        }
        return RestoreReport(items: items)
    }
}
