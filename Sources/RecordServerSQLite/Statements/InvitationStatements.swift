import RecordModel
import RecordSQL
import RecordWire

/// The invitations of an owner, and the owners whose invitations a user does not want.
struct InvitationStatements {
    let access: SQLiteAccess

    func invitationCount(by owner: UserName, to lookup: UserLookup) throws(ServerError) -> Int {
        let (column, value): (String, SQLValue)
        if let user = lookup.userName {
            (column, value) = ("user", .name(user))
        } else if let address = lookup.emailAddress {
            (column, value) = ("email_address", .text(address))
        } else {
            (column, value) = ("phone_number", .optional(lookup.phoneNumber))
        }
        return try access.first(
            """
            SELECT COUNT(*) FROM participants p
            JOIN zones z ON z.id = p.zone JOIN databases d ON d.id = z.database
            WHERE p.status = 'INVITED' AND p.\(column) = ? AND d.owner = ? AND z.deleted = 0
            """, [value, .name(owner)]
        ) { Int(clamping: $0.int64(0)) } ?? 0
    }

    func blocksInvitations(_ user: UserName, of owner: UserName) throws(ServerError) -> Bool {
        try access.first(
            "SELECT 1 FROM blocked_owners WHERE user = ? AND owner = ?",
            [.name(user), .name(owner)], { _ in true }) ?? false
    }

    func blockedOwners(_ user: UserName) throws(ServerError) -> [UserName] {
        try access.all(
            "SELECT owner FROM blocked_owners WHERE user = ? ORDER BY at DESC, owner",
            [.name(user)]
        ) { $0.name(0) }
    }

    func setBlocksInvitations(
        _ user: UserName, of owner: UserName, _ blocks: Bool, milliseconds: Int64
    ) throws(ServerError) {
        if blocks {
            try access.run(
                "INSERT OR IGNORE INTO blocked_owners (user, owner, at) VALUES (?, ?, ?)",
                [.name(user), .name(owner), .integer(milliseconds)])
        } else {
            try access.run(
                "DELETE FROM blocked_owners WHERE user = ? AND owner = ?",
                [.name(user), .name(owner)])
        }
    }
}
