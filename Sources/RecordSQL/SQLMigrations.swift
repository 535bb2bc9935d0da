package import RecordModel

/// The versions of a database's tables, oldest first. Each is applied once, in a transaction of its
/// own, and its name is kept in the database.
package struct SQLMigrations: Sendable {
    package struct Migration: Sendable {
        package let name: String
        /// The names of earlier migrations that this one takes the place of.
        let replaced: Set<String>
        let run: @Sendable (SQLConnection, _ applied: Set<String>) throws(RecordError) -> Void

        /// Creates a migration.
        ///
        /// - Parameter run: gets the names among `replaced` that were applied, and does the rest.
        package init(
            _ name: String, replacing replaced: Set<String> = [],
            _ run:
                @escaping @Sendable (SQLConnection, _ applied: Set<String>)
                throws(RecordError) -> Void
        ) {
            self.name = name
            self.replaced = replaced
            self.run = run
        }
    }

    private let migrations: [Migration]

    package init(_ migrations: [Migration]) { self.migrations = migrations }

    /// Returns the migrations up to and with this one.
    package func through(_ name: String) -> SQLMigrations {
        let last = migrations.firstIndex { $0.name == name } ?? migrations.endIndex - 1
        return SQLMigrations(Array(migrations[...last]))
    }

    /// Returns the names of the migrations that a database has had.
    package func applied(_ connection: SQLConnection) throws(RecordError) -> Set<String> {
        // Stores of earlier versions have this table from a library.
        guard
            try connection.exists(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'grdb_migrations'")
        else { return [] }
        return Set(
            try connection.all("SELECT identifier FROM grdb_migrations") { $0.string(0) })
    }

    /// Returns whether a database has had migrations that this program does not know.
    package func areNewer(_ connection: SQLConnection) throws(RecordError) -> Bool {
        let known = migrations.reduce(into: Set<String>()) { known, migration in
            known.insert(migration.name)
            known.formUnion(migration.replaced)
        }
        return try !applied(connection).isSubset(of: known)
    }

    /// Returns whether a database has had all migrations.
    package func areDone(_ connection: SQLConnection) throws(RecordError) -> Bool {
        try applied(connection).isSuperset(of: migrations.map(\.name))
    }

    /// Applies the migrations that a database has not had. One that fails leaves no trace.
    package func apply(to connection: SQLConnection) throws(RecordError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)
            """)
        let applied = try applied(connection)
        for migration in migrations where !applied.contains(migration.name) {
            try apply(migration, connection)
        }
    }

    /// A changed table is made anew, so references are checked at the end and not at each step
    /// (https://www.sqlite.org/lang_altertable.html#otheralter).
    private func apply(
        _ migration: Migration, _ connection: SQLConnection
    ) throws(RecordError) {
        let hasKeys = try connection.first("PRAGMA foreign_keys") { $0.bool(0) } ?? false
        if hasKeys { try connection.execute("PRAGMA foreign_keys = OFF") }
        let outcome = Result { () throws(RecordError) in
            try connection.inTransaction("IMMEDIATE") { connection throws(RecordError) in
                // Another process may have applied it before this one got the lock.
                let applied = try self.applied(connection)
                guard !applied.contains(migration.name) else { return }
                try migration.run(connection, applied.intersection(migration.replaced))
                for name in migration.replaced {
                    try connection.run(
                        "DELETE FROM grdb_migrations WHERE identifier = ?", [.text(name)])
                }
                try connection.run(
                    "INSERT INTO grdb_migrations (identifier) VALUES (?)", [.text(migration.name)])
                if hasKeys { try checkKeys(connection, migration) }
            }
        }
        if hasKeys { try connection.execute("PRAGMA foreign_keys = ON") }
        try outcome.get()
    }

    private func checkKeys(
        _ connection: SQLConnection, _ migration: Migration
    ) throws(RecordError) {
        let broken = try connection.first("PRAGMA foreign_key_check") { $0.string(0) }
        guard let broken else { return }
        throw RecordError(
            .corrupt,
            "Rows of the table \(broken) refer to rows that do not exist, so the step "
                + "\"\(migration.name)\" was not made.")
    }
}
