import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The events of accounts.
struct AccountEventStatements {
    let access: SQLiteAccess

    func accountEvents(_ user: UserName, limit: Int) throws(ServerError) -> [AccountEvent] {
        try access.all(
            """
            SELECT user, kind, at, address, agent, is_new_place FROM account_events
            WHERE user = ? ORDER BY id DESC LIMIT ?
            """, [.name(user), .limit(limit)]
        ) { row in
            AccountEvent(
                user: row.name(0),
                kind: AccountEvent.Kind(rawValue: (row.value(1) as Text).string) ?? .signedIn,
                milliseconds: row.int64(2), address: row.value(3), agent: row.value(4),
                isNewPlace: row.bool(5))
        }
    }

    func hasSignedIn(_ user: UserName, client: Text, after milliseconds: Int64)
        throws(ServerError) -> Bool
    {
        try access.first(
            """
            SELECT 1 FROM account_events
            WHERE user = ? AND client = ? AND at > ? LIMIT 1
            """, [.name(user), .text(client), .integer(milliseconds)], { _ in true }) ?? false
    }

    func addAccountEvent(_ event: AccountEvent) throws(ServerError) {
        // Only an event that proves the owner's presence makes an address known.
        let isProof = event.kind == .signedIn && !event.address.isEmpty
        let client = isProof ? Text(IPAddress.client(of: event.address.string)) : nil
        try access.run(
            """
            INSERT INTO account_events (user, kind, at, address, client, agent, is_new_place)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .name(event.user), .text(Text(event.kind.rawValue)),
                .integer(event.milliseconds), .text(event.address), .optional(client),
                .text(event.agent), .bool(event.isNewPlace),
            ])
        try access.run(
            """
            DELETE FROM account_events WHERE user = ?1 AND id <= (
                SELECT id FROM account_events WHERE user = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
            """, [.name(event.user), .integer(Int64(AccountEvent.limit))])
    }

    func removeAccountEvents(before milliseconds: Int64) throws(ServerError) {
        try access.run("DELETE FROM account_events WHERE at < ?", [.integer(milliseconds)])
    }
}
