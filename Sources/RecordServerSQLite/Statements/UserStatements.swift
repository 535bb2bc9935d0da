import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The users of the server.
struct UserStatements {
    let access: SQLiteAccess

    private static let selectUser = """
        SELECT name, email_address, phone_number, given_name, family_name, password_hash,
            administrator, disabled, discoverable, quota, created
        FROM users
        """

    private static func user(_ row: SQLStatement) -> UserRow {
        var user = UserRow(
            name: row.name(0), emailAddress: row.value(1), phoneNumber: row.valueIfPresent(2),
            givenName: row.value(3), familyName: row.value(4), passwordHash: row.value(5),
            isAdministrator: row.bool(6), createdMilliseconds: row.int64(10))
        user.isDisabled = row.bool(7)
        user.isDiscoverable = row.bool(8)
        user.quotaBytes = row.int64IfPresent(9)
        return user
    }

    func user(_ name: UserName) throws(ServerError) -> UserRow? {
        try access.first(Self.selectUser + " WHERE name = ?", [.name(name)], Self.user)
    }

    func user(emailAddress: Text) throws(ServerError) -> UserRow? {
        try access.first(
            Self.selectUser + " WHERE email_address = ?", [.text(emailAddress)], Self.user)
    }

    func user(phoneNumber: Text) throws(ServerError) -> UserRow? {
        try access.first(
            Self.selectUser + " WHERE phone_number = ? LIMIT 1", [.text(phoneNumber)], Self.user)
    }

    func users() throws(ServerError) -> [UserRow] {
        try access.all(Self.selectUser + " ORDER BY email_address", [], Self.user)
    }

    func putUser(_ user: UserRow) throws(ServerError) {
        if let other = try self.user(emailAddress: user.emailAddress), other.name != user.name {
            throw ServerError(.exists, "Another user has this e-mail address.")
        }
        try access.run(
            """
            INSERT OR REPLACE INTO users (name, email_address, phone_number, given_name,
                family_name, password_hash, administrator, disabled, discoverable, quota, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .name(user.name), .text(user.emailAddress), .optional(user.phoneNumber),
                .text(user.givenName), .text(user.familyName), .text(user.passwordHash),
                .bool(user.isAdministrator), .bool(user.isDisabled), .bool(user.isDiscoverable),
                .optional(user.quotaBytes), .integer(user.createdMilliseconds),
            ])
    }
}
