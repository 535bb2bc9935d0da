import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The users who ask for access to a share, and the people who are blocked.
struct SharePeopleStatements {
    let access: SQLiteAccess

    /// Values of `kind`; never renumber.
    private static let requester: Int64 = 0
    private static let blocked: Int64 = 1

    func readPeople(of share: inout ShareRow, _ zone: ZoneHandle) throws(ServerError) {
        let rows = try access.all(
            """
            SELECT kind, user, email_address, phone_number, at FROM share_people
            WHERE zone = ? AND share = ? ORDER BY kind, place
            """, [.zone(zone), .name(share.name)]
        ) {
            (
                $0.int64(0),
                UserLookup(
                    emailAddress: $0.valueIfPresent(2), phoneNumber: $0.valueIfPresent(3),
                    userName: $0.nameIfPresent(1)), $0.int64(4)
            )
        }
        for (kind, lookup, milliseconds) in rows {
            if kind == Self.blocked {
                share.blocked.append(BlockedRow(lookup: lookup))
            } else if let user = lookup.userName {
                share.requesters.append(RequesterRow(user: user, milliseconds: milliseconds))
            }
        }
    }

    func insertPeople(of share: ShareRow, _ zone: ZoneHandle) throws(ServerError) {
        for (place, row) in share.requesters.enumerated() {
            try insert(
                UserLookup(userName: row.user), Self.requester, place, at: row.milliseconds, share,
                zone)
        }
        for (place, row) in share.blocked.enumerated() {
            try insert(row.lookup, Self.blocked, place, at: 0, share, zone)
        }
    }

    private func insert(
        _ lookup: UserLookup, _ kind: Int64, _ place: Int, at milliseconds: Int64,
        _ share: ShareRow, _ zone: ZoneHandle
    ) throws(ServerError) {
        try access.run(
            """
            INSERT INTO share_people (zone, share, kind, place, user, email_address,
                phone_number, at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .zone(zone), .name(share.name), .integer(kind), .integer(Int64(place)),
                .optional(lookup.userName), .optional(lookup.emailAddress),
                .optional(lookup.phoneNumber), .integer(milliseconds),
            ])
    }

    func removePeople(_ zone: ZoneHandle, _ share: RecordName) throws(ServerError) {
        try access.run(
            "DELETE FROM share_people WHERE zone = ? AND share = ?", [.zone(zone), .name(share)])
    }

    func putShareReport(_ report: ShareReport) throws(ServerError) {
        try access.run(
            """
            INSERT INTO share_reports (container, environment, owner, zone, share,
                short_guid, reporter, at, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            report.zone.values + [
                .name(report.share), .text(report.shortGUID), .name(report.reporter),
                .integer(report.milliseconds), .text(report.text),
            ])
        try access.run(
            """
            DELETE FROM share_reports
            WHERE id <= (SELECT id FROM share_reports ORDER BY id DESC LIMIT 1 OFFSET ?)
            """, [.integer(Int64(ShareReport.limit))])
    }

    func shareReports(limit: Int) throws(ServerError) -> [ShareReport] {
        try access.all(
            """
            SELECT container, environment, owner, zone, share, short_guid, reporter, at, text
            FROM share_reports ORDER BY id DESC LIMIT ?
            """, [.limit(limit)], Self.shareReport)
    }

    static func shareReport(_ row: SQLStatement) -> ShareReport {
        let container = ContainerKey(
            container: row.value(0), environment: ServerEnvironment(number: row.int64(1)))
        let database = DatabaseKey(container: container, owner: row.name(2))
        return ShareReport(
            zone: ZoneKey(database: database, zone: row.name(3)), share: row.name(4),
            shortGUID: row.value(5), reporter: row.name(6), milliseconds: row.int64(7),
            text: row.value(8))
    }

    func noteAccessRequest(_ user: UserName, milliseconds: Int64) throws(ServerError) {
        try access.run(
            "INSERT OR REPLACE INTO access_requests (user, at) VALUES (?, ?)",
            [.name(user), .integer(milliseconds)])
    }
}
