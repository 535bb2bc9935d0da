import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLStatement {
    /// Reads the container and the environment from two columns.
    fileprivate func container(_ first: Int32) -> ContainerKey {
        ContainerKey(
            container: value(first), environment: ServerEnvironment(number: int64(first + 1)))
    }
}

/// API tokens, sessions and server-to-server keys.
struct CredentialStatements {
    let access: SQLiteAccess

    private static let selectToken = """
        SELECT hash, container, environment, name, callback_url, origins, revoked, created
        FROM api_tokens
        """

    private static func token(_ row: SQLStatement) -> APITokenRow {
        let origins = row.bytes(5).split(separator: UInt8(ascii: "\n"))
        var token = APITokenRow(
            hash: row.value(0), container: row.container(1), name: row.value(3),
            callbackURL: row.valueIfPresent(4),
            allowedOrigins: origins.map { Text(utf8: Array($0)) },
            createdMilliseconds: row.int64(7))
        token.isRevoked = row.bool(6)
        return token
    }

    func apiToken(hash: Text) throws(ServerError) -> APITokenRow? {
        try access.first(Self.selectToken + " WHERE hash = ?", [.text(hash)], Self.token)
    }

    func apiTokens(_ container: Text) throws(ServerError) -> [APITokenRow] {
        try access.all(
            Self.selectToken + " WHERE container = ? ORDER BY created, hash",
            [.text(container)], Self.token)
    }

    func putAPIToken(_ token: APITokenRow) throws(ServerError) {
        let origins = token.allowedOrigins.map(\.utf8).joined(separator: [UInt8(ascii: "\n")])
        try access.run(
            """
            INSERT OR REPLACE INTO api_tokens (hash, container, environment, name, callback_url,
                origins, revoked, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [.text(token.hash)] + token.container.values + [
                .text(token.name), .optional(token.callbackURL), .blob(Array(origins)),
                .bool(token.isRevoked), .integer(token.createdMilliseconds),
            ])
    }

    private static let selectSession = """
        SELECT id, user, container, environment, generation, generation_at, created, expires,
            revoked, label, marks
        FROM sessions
        """

    private static func session(_ row: SQLStatement) -> SessionRow {
        var session = SessionRow(
            id: row.value(0), user: row.name(1), container: row.container(2),
            createdMilliseconds: row.int64(6), expiresMilliseconds: row.int64(7),
            label: row.value(9))
        session.generation = row.int64(4)
        session.generationMilliseconds = row.int64(5)
        session.isRevoked = row.bool(8)
        session.earlierMarks = marks(row.bytes(10))
        return session
    }

    private static func marks(_ bytes: [UInt8]) -> [TokenMark] {
        var reader = ByteReader(bytes)
        var marks: [TokenMark] = []
        while let generation = reader.int64(), let milliseconds = reader.int64() {
            marks.append(TokenMark(generation: generation, milliseconds: milliseconds))
        }
        return marks
    }

    private static func bytes(_ marks: [TokenMark]) -> [UInt8] {
        var writer = ByteWriter()
        for mark in marks {
            writer.append(mark.generation)
            writer.append(mark.milliseconds)
        }
        return writer.bytes
    }

    func session(_ id: Text) throws(ServerError) -> SessionRow? {
        try access.first(Self.selectSession + " WHERE id = ?", [.text(id)], Self.session)
    }

    func sessions(_ user: UserName) throws(ServerError) -> [SessionRow] {
        try access.all(
            Self.selectSession + " WHERE user = ? ORDER BY created, id", [.name(user)],
            Self.session)
    }

    func putSession(_ session: SessionRow) throws(ServerError) {
        try access.run(
            """
            INSERT INTO sessions (id, user, container, environment, generation, generation_at,
                created, expires, revoked, label, marks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id) DO UPDATE SET generation = excluded.generation,
                generation_at = excluded.generation_at, expires = excluded.expires,
                revoked = excluded.revoked, label = excluded.label, marks = excluded.marks
            """,
            [.text(session.id), .name(session.user)] + session.container.values + [
                .integer(session.generation), .integer(session.generationMilliseconds),
                .integer(session.createdMilliseconds), .integer(session.expiresMilliseconds),
                .bool(session.isRevoked), .text(session.label),
                .blob(Self.bytes(session.earlierMarks)),
            ])
    }

    func removeSessions(expiredBefore milliseconds: Int64) throws(ServerError) {
        try access.removeDevicesOfSessions(expiredBefore: milliseconds)
        try access.run("DELETE FROM sessions WHERE expires < ?", [.integer(milliseconds)])
    }

    private static let selectKey = """
        SELECT id, container, environment, public_key, name, user, revoked, created
        FROM server_keys
        """

    private static func key(_ row: SQLStatement) -> ServerKeyRow {
        var key = ServerKeyRow(
            keyID: row.value(0), container: row.container(1), publicKeyPEM: row.value(3),
            name: row.value(4), user: row.name(5), createdMilliseconds: row.int64(7))
        key.isRevoked = row.bool(6)
        return key
    }

    func serverKey(_ keyID: Text) throws(ServerError) -> ServerKeyRow? {
        try access.first(Self.selectKey + " WHERE id = ?", [.text(keyID)], Self.key)
    }

    func serverKeys(_ container: Text) throws(ServerError) -> [ServerKeyRow] {
        try access.all(
            Self.selectKey + " WHERE container = ? ORDER BY created, id", [.text(container)],
            Self.key)
    }

    func putServerKey(_ key: ServerKeyRow) throws(ServerError) {
        try access.run(
            """
            INSERT OR REPLACE INTO server_keys (id, container, environment, public_key, name,
                user, revoked, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [.text(key.keyID)] + key.container.values + [
                .text(key.publicKeyPEM), .text(key.name), .name(key.user), .bool(key.isRevoked),
                .integer(key.createdMilliseconds),
            ])
    }
}
