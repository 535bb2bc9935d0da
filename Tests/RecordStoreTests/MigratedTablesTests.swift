import Foundation
import RecordModel
import RecordSQL
import RecordStoreSync
import Testing

@testable import RecordStore

/// A store of each version that ever was has the same tables, after it was opened, as one that is made
/// today, and works like it.
@Suite struct MigratedTablesTests {
    private let fresh: StoreFixture

    init() throws { fresh = try StoreFixture() }

    /// The names of the migrations, in their order.
    private func versions() throws -> [String] {
        try fresh.store.read { connection throws(RecordError) in
            try connection.all("SELECT identifier FROM grdb_migrations ORDER BY rowid") {
                $0.string(0)
            }
        }
    }

    /// The columns of all tables, and all indexes and triggers, each as one line. The order of
    /// columns is that of the versions.
    private func definitions(_ connection: SQLConnection) throws(RecordError) -> Set<String> {
        var lines: Set<String> = []
        let tables = try connection.all(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
        ) { $0.string(0) }
        for table in tables {
            lines.formUnion(
                try connection.all(
                    """
                    SELECT name || ' ' || type || ' ' || "notnull" || ' ' || pk || ' '
                        || coalesce(dflt_value, '-') FROM pragma_table_info(?)
                    """, [.text(table)]
                ) { "\(table): \($0.string(0))" })
            lines.formUnion(
                try connection.all(
                    """
                    SELECT "table" || ' ' || "from" || ' ' || on_delete
                    FROM pragma_foreign_key_list(?)
                    """, [.text(table)]
                ) { "\(table) refers to \($0.string(0))" })
        }
        lines.formUnion(
            try connection.all(
                """
                SELECT type || ' ' || name || ' of ' || tbl_name || ': ' || coalesce(sql, '-')
                FROM sqlite_master WHERE type IN ('index', 'trigger')
                """
            ) { $0.string(0).split { $0.isWhitespace }.joined(separator: " ") })
        return lines
    }

    private func definitions(of fixture: StoreFixture) throws -> Set<String> {
        try fixture.store.read { connection throws(RecordError) in try definitions(connection) }
    }

    private func expectSame(_ old: Set<String>, _ version: String) throws {
        let new = try definitions(of: fresh)
        #expect(new.subtracting(old) == [], "a store of \(version) lacks these")
        #expect(old.subtracting(new) == [], "a store of \(version) has these too")
    }

    @Test("a store of each version has the tables of today when it was opened")
    func tables() throws {
        let versions = try versions()
        #expect(versions.count > 10)
        for version in versions {
            let fixture = try StoreFixture()
            try fixture.whileClosed { path in
                for end in ["", "-wal", "-shm"] where access(path + end, F_OK) == 0 {
                    try FileManager.default.removeItem(atPath: path + end)
                }
                let queue = try SQLQueue(path: path)
                try queue.use { connection throws(RecordError) in
                    try Migrations.all.through(version).apply(to: connection)
                }
                queue.close()
            }
            try expectSame(try definitions(of: fixture), version)
            try expectUsable(fixture, version)
        }
    }

    /// The store takes a record from its making to its deletion on the server.
    private func expectUsable(_ fixture: StoreFixture, _ version: String) throws {
        let (zone, note) = try fixture.write { transaction throws(RecordError) in
            let zone = try transaction.makeZone(.private, .me, ZoneName("Box")).id
            return (zone, try transaction.makeType(zone, RecordTypeName("Note")).id)
        }
        func send(_ tag: String) throws {
            try fixture.write(.sync) { transaction throws(RecordError) in
                for claim in try transaction.outbox.claimOutbox(in: zone) {
                    try transaction.outbox.completeOutbox(claim, changeTag: tag)
                }
            }
        }
        let id = try fixture.save("a", #"{"t":"soup"}"#, type: note).id
        try fixture.setAsset(id, "photo", bytes: "hello")
        try send("t1")
        try fixture.apply(fixture.page([StoreFixture.told("b", n: 1)], token: "x", in: zone))
        #expect(try fixture.store.index.search(zone, words: "soup").map(\.id) == [id], "\(version)")
        try fixture.delete(id)
        try send("")
        #expect(try fixture.outbox().isEmpty && fixture.names(note) == ["b"], "\(version)")
        try fixture.expectSound()
        try fixture.reopen()
        try fixture.expectSound()
    }

    @Test("the stores that earlier programs left have the tables of today when they were opened")
    func saved() throws {
        for name in ["v1", "checksums"] {
            let saved = try #require(
                Bundle.module.path(forResource: name, ofType: "sqlite", inDirectory: "Fixtures"))
            let fixture = try StoreFixture()
            try fixture.whileClosed { path in
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.copyItem(atPath: saved, toPath: path)
            }
            try expectSame(try definitions(of: fixture), name)
            #expect(try fixture.store.syncState.counts().historyRows > 2)
        }
    }

    @Test("a migration that fails leaves the store as it was, and is done when it can be")
    func failed() throws {
        let versions = try versions()
        let fixture = try StoreFixture()
        try fixture.save("a", #"{"n":1}"#)
        try fixture.store.close()
        let path = fixture.directory + "/store.sqlite"
        let last = try #require(versions.last)
        func run(_ script: String) throws {
            let queue = try SQLQueue(path: path)
            try queue.use { connection throws(RecordError) in try connection.execute(script) }
            queue.close()
        }
        // The column of the last migration is there already, although nothing says that it ran.
        try run(
            "DELETE FROM grdb_migrations WHERE identifier = '\(last)'; PRAGMA user_version = 0;")
        for _ in 1...2 {
            #expect(failure { try RecordStore.open(directory: fixture.directory) } != nil)
        }
        try run("INSERT INTO grdb_migrations VALUES ('\(last)'); PRAGMA user_version = 0;")
        try fixture.reopen()
        #expect(try fixture.text("a") == #"{"n":1}"#)
        try fixture.expectSound()
    }
}
