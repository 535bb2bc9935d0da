import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// Settings, containers, schemas and roles.
struct SettingStatements {
    let access: SQLiteAccess

    func setting(_ name: String) throws(ServerError) -> [UInt8]? {
        try access.first("SELECT value FROM settings WHERE name = ?", [.text(name)]) { $0.bytes(0) }
    }

    func putSetting(_ name: String, _ value: [UInt8]) throws(ServerError) {
        try access.run(
            "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)",
            [.text(name), .blob(value)])
    }

    /// Returns the position at which a new zone begins.
    func firstPosition() throws(ServerError) -> Int64 {
        guard let bytes = try setting(ServerSetting.firstPosition) else { return 0 }
        var reader = ByteReader(bytes)
        guard let position = reader.int64(), reader.isAtEnd else {
            throw access.damaged("the first position is no number")
        }
        return position
    }

    func containers() throws(ServerError) -> [Text] {
        try access.all("SELECT name FROM containers ORDER BY name") { $0.value(0) }
    }

    func createContainer(_ name: Text) throws(ServerError) {
        try access.run("INSERT OR IGNORE INTO containers (name) VALUES (?)", [.text(name)])
    }

    func schema(_ container: ContainerKey) throws(ServerError) -> SchemaRow? {
        try access.first(
            "SELECT version, text FROM schemas WHERE container = ? AND environment = ?",
            container.values
        ) { SchemaRow(version: $0.int64(0), text: $0.bytes(1)) }
    }

    func putSchema(_ container: ContainerKey, _ schema: SchemaRow) throws(ServerError) {
        try access.run(
            """
            INSERT OR REPLACE INTO schemas (container, environment, version, text)
            VALUES (?, ?, ?, ?)
            """, container.values + [.integer(schema.version), .blob(schema.text)])
    }

    func roles(_ container: ContainerKey, of user: UserName) throws(ServerError) -> [String] {
        try access.all(
            """
            SELECT role FROM roles WHERE container = ? AND environment = ? AND user = ?
            ORDER BY role
            """, container.values + [.name(user)]
        ) { $0.string(0) }
    }

    func putRoles(
        _ container: ContainerKey, of user: UserName, _ roles: [String]
    ) throws(ServerError) {
        let place = container.values + [.name(user)]
        try access.run(
            "DELETE FROM roles WHERE container = ? AND environment = ? AND user = ?", place)
        for role in roles {
            try access.run(
                """
                INSERT OR IGNORE INTO roles (container, environment, user, role)
                VALUES (?, ?, ?, ?)
                """, place + [.text(role)])
        }
    }

    func erase(_ container: ContainerKey, reason: DeletionReason) throws(ServerError) {
        let databases = try access.all(
            "SELECT id, owner FROM databases WHERE container = ? AND environment = ?",
            container.values
        ) { ($0.int64(0), DatabaseKey(container: container, owner: $0.name(1))) }
        for (number, database) in databases {
            for zone in try access.zones(database) { try access.deleteZone(zone, reason: reason) }
            try access.run("DELETE FROM operations WHERE database = ?", [.integer(number)])
        }
        try access.run(
            "DELETE FROM subscriptions WHERE container = ? AND environment = ?",
            container.values)
    }
}
