import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// Shares and their participants.
struct ShareStatements {
    let access: SQLiteAccess

    private static let shareColumns =
        "s.name, s.root, s.short_guid, s.public_permission, s.denies_requests"

    /// The columns of a share with its place, in a query that has `placeOfShare`.
    private static let placedShareColumns = "\(shareColumns), z.id, z.name, d.owner"
    private static let placeOfShare = """
        JOIN zones z ON z.id = s.zone AND z.deleted = 0 JOIN databases d ON d.id = z.database
        """

    func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow? {
        guard let handle = try access.zone(zone)?.handle else { return nil }
        return try access.first(
            "SELECT \(Self.shareColumns) FROM shares s WHERE s.zone = ? AND s.name = ?",
            [.zone(handle), .name(name)]
        ) { (row) throws(ServerError) in try share(row, zone, handle) }
    }

    func shares(_ zone: ZoneKey) throws(ServerError) -> [ShareRow] {
        guard let handle = try access.zone(zone)?.handle else { return [] }
        return try access.all(
            "SELECT \(Self.shareColumns) FROM shares s WHERE s.zone = ? ORDER BY s.name",
            [.zone(handle)]
        ) { (row) throws(ServerError) in try share(row, zone, handle) }
    }

    func share(_ container: ContainerKey, shortGUID: Text) throws(ServerError) -> ShareRow? {
        try access.first(
            """
            SELECT \(Self.placedShareColumns) FROM shares s
            \(Self.placeOfShare)
            WHERE s.short_guid = ? AND d.container = ? AND d.environment = ?
            """, [.text(shortGUID)] + container.values
        ) { (row) throws(ServerError) in try share(row, container) }
    }

    func share(_ container: ContainerKey, link: Text) throws(ServerError) -> ShareRow? {
        try access.first(
            """
            SELECT \(Self.placedShareColumns) FROM participants p
            JOIN shares s ON s.zone = p.zone AND s.name = p.share
            \(Self.placeOfShare)
            WHERE p.link = ? AND d.container = ? AND d.environment = ?
            """, [.text(link)] + container.values
        ) { (row) throws(ServerError) in try share(row, container) }
    }

    func invitations(
        of user: UserRow, _ container: ContainerKey, from offset: Int, limit: Int
    ) throws(ServerError) -> [ShareRow] {
        let number = user.phoneNumber.map(UserLookup.digits)
        return try access.all(
            """
            SELECT \(Self.placedShareColumns)
            FROM (
                SELECT zone, share, MAX(invited) AS invited FROM (
                    SELECT zone, share, invited FROM participants
                    WHERE status = 'INVITED' AND user = ?1
                    UNION ALL
                    SELECT zone, share, invited FROM participants
                    WHERE status = 'INVITED' AND email_address = ?2 AND user IS NULL
                    UNION ALL
                    SELECT zone, share, invited FROM participants
                    WHERE status = 'INVITED' AND phone_number = ?3 AND user IS NULL
                ) GROUP BY zone, share
            ) p
            JOIN shares s ON s.zone = p.zone AND s.name = p.share
            \(Self.placeOfShare)
            WHERE d.container = ?4 AND d.environment = ?5 AND NOT EXISTS (
                SELECT 1 FROM blocked_owners b WHERE b.user = ?1 AND b.owner = d.owner)
            ORDER BY ROW_NUMBER() OVER (
                PARTITION BY d.owner ORDER BY p.invited DESC, p.zone, p.share
            ), p.invited DESC, p.zone, p.share LIMIT ?6 OFFSET ?7
            """,
            [.name(user.name), .text(user.emailAddress), .optional(number)] + container.values
                + [.limit(limit), .limit(offset)]
        ) { (row) throws(ServerError) in try share(row, container) }
    }

    /// Reads a share from a row that has the columns of the zone after those of the share.
    private func share(
        _ row: SQLStatement, _ container: ContainerKey
    ) throws(ServerError) -> ShareRow {
        let database = DatabaseKey(container: container, owner: row.name(7))
        let key = ZoneKey(database: database, zone: row.name(6))
        return try share(row, key, ZoneHandle(database, row.int64(5)))
    }

    private func share(
        _ row: SQLStatement, _ zone: ZoneKey, _ handle: ZoneHandle
    ) throws(ServerError) -> ShareRow {
        let name: RecordName = row.name(0)
        let deniesAccessRequests = row.bool(4)
        var share = ShareRow(
            zone: zone, name: name, root: row.nameIfPresent(1), shortGUID: row.value(2),
            publicPermission: SharePermission(rawValue: row.string(3)) ?? .unknown,
            participants: try participants(handle, name))
        share.deniesAccessRequests = deniesAccessRequests
        try SharePeopleStatements(access: access).readPeople(of: &share, handle)
        return share
    }

    private func participants(
        _ zone: ZoneHandle, _ share: RecordName
    ) throws(ServerError) -> [ParticipantRow] {
        try access.all(
            """
            SELECT participant_id, user, email_address, phone_number, lookup_user, type,
                permission, status, invited, accepted, is_approved, link
            FROM participants WHERE zone = ? AND share = ? ORDER BY place
            """, [.zone(zone), .name(share)]
        ) {
            var row = ParticipantRow(
                participantID: $0.value(0), user: $0.nameIfPresent(1),
                lookup: UserLookup(
                    emailAddress: $0.valueIfPresent(2), phoneNumber: $0.valueIfPresent(3),
                    userName: $0.nameIfPresent(4)),
                type: ParticipantType(rawValue: $0.string(5)) ?? .unknown,
                permission: SharePermission(rawValue: $0.string(6)) ?? .unknown,
                status: AcceptanceStatus(rawValue: $0.string(7)) ?? .unknown)
            row.invitedMilliseconds = $0.isNull(8) ? nil : $0.int64(8)
            row.acceptedMilliseconds = $0.isNull(9) ? nil : $0.int64(9)
            row.isApprovedRequester = $0.bool(10)
            row.link = $0.valueIfPresent(11)
            return row
        }
    }

    func putShare(_ share: ShareRow) throws(ServerError) {
        let handle = try requireZone(share.zone)
        try access.run(
            """
            INSERT OR REPLACE INTO shares (zone, name, root, short_guid, public_permission,
                denies_requests)
            VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                .zone(handle), .name(share.name), .optional(share.root), .text(share.shortGUID),
                .text(share.publicPermission.rawValue), .bool(share.deniesAccessRequests),
            ])
        try removeParticipants(handle, share.name)
        for (place, participant) in share.participants.enumerated() {
            try insert(participant, place, handle, share.name)
        }
        try SharePeopleStatements(access: access).removePeople(handle, share.name)
        try SharePeopleStatements(access: access).insertPeople(of: share, handle)
    }

    private func insert(
        _ participant: ParticipantRow, _ place: Int, _ zone: ZoneHandle, _ share: RecordName
    ) throws(ServerError) {
        let lookup = participant.lookup
        try access.run(
            """
            INSERT INTO participants (zone, share, place, participant_id, user, email_address,
                phone_number, lookup_user, type, permission, status, invited, accepted, is_approved,
                link)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .zone(zone), .name(share), .integer(Int64(place)),
                .text(participant.participantID), .optional(participant.user),
                .optional(lookup.emailAddress), .optional(lookup.phoneNumber),
                .optional(lookup.userName), .text(participant.type.rawValue),
                .text(participant.permission.rawValue), .text(participant.status.rawValue),
                participant.invitedMilliseconds.map { .integer($0) } ?? .null,
                participant.acceptedMilliseconds.map { .integer($0) } ?? .null,
                .bool(participant.isApprovedRequester), .optional(participant.link),
            ])
    }

    private func removeParticipants(
        _ zone: ZoneHandle, _ share: RecordName
    ) throws(ServerError) {
        try access.run(
            "DELETE FROM participants WHERE zone = ? AND share = ?", [.zone(zone), .name(share)])
    }

    func deleteShare(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) {
        guard let handle = try access.zone(zone)?.handle else { return }
        try access.run(
            "DELETE FROM shares WHERE zone = ? AND name = ?", [.zone(handle), .name(name)])
        try removeParticipants(handle, name)
        try SharePeopleStatements(access: access).removePeople(handle, name)
    }

    func requireZone(_ key: ZoneKey) throws(ServerError) -> ZoneHandle {
        guard let handle = try access.zone(key)?.handle else {
            throw ServerError(.internalError, "A zone that is not there cannot be shared.")
        }
        return handle
    }
}
