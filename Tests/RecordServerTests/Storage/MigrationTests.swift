import Dispatch
import RecordModel
import RecordSQL
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import RecordServerSQLite

/// Databases of earlier versions, opened by this one.
@Suite("Migrations of the server's database") struct MigrationTests {
    /// A database as `version` left it, with what `fill` puts there, brought up to date.
    private func migrated(
        from version: Int, _ fill: (SQLConnection) throws(RecordError) -> Void
    ) throws -> SQLQueue {
        let queue = try SQLQueue()
        try update(queue, SQLiteTables.migrations(until: version))
        try queue.write { connection throws(RecordError) in try fill(connection) }
        try update(queue)
        return queue
    }

    private func update(
        _ queue: SQLQueue, _ migrations: SQLMigrations = SQLiteTables.migrations
    ) throws {
        try queue.use { connection throws(RecordError) in try migrations.apply(to: connection) }
    }

    @Test("of two processes that bring the same database up to date, the later one finds it done")
    func twoAtOnce() throws {
        let directory = try StorageDirectory()
        let (first, second) = (
            try SQLQueue(path: directory.database), try SQLQueue(path: directory.database)
        )
        // Both have read what was applied before one of them gets the lock.
        let (one, other) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        first.trace { statement in
            guard statement == "BEGIN IMMEDIATE" else { return }
            one.signal()
            #expect(other.wait(timeout: .now() + 60) == .success)
        }
        second.trace { statement in
            guard statement == "BEGIN IMMEDIATE" else { return }
            other.signal()
            #expect(one.wait(timeout: .now() + 60) == .success)
        }
        let migrations = SQLMigrations([
            SQLMigrations.Migration("one") { (connection, _) throws(RecordError) in
                try connection.execute("CREATE TABLE one (x)")
            }
        ])
        // A thread of its own: the pool of tasks may have none free.
        let later = Mutex<Result<Void, RecordError>?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        DispatchQueue(label: "later").async {
            let outcome = Result { () throws(RecordError) in
                try second.use { connection throws(RecordError) in
                    try migrations.apply(to: connection)
                }
            }
            later.withLock { $0 = outcome }
            isDone.signal()
        }
        try first.use { connection throws(RecordError) in
            try migrations.apply(to: connection)
        }
        isDone.wait()
        let outcome = later.withLock { $0 }
        try #require(outcome).get()
    }

    @Test("uploads that wait for their record are counted from the start")
    func unsaved() throws {
        let queue = try migrated(from: 2) { connection throws(RecordError) in
            try connection.run(
                "INSERT INTO databases (id, container, environment, owner) VALUES (1, x'', 0, x'')")
            for (checksum, size, count) in [("a", 1_000, 0), ("b", 5, 0), ("c", 7_000, 1)] {
                try connection.run(
                    """
                    INSERT INTO assets (database, checksum, sha256, size, uploaded, reference_count)
                    VALUES (1, ?, '', ?, 0, ?)
                    """,
                    [.text(Text(checksum)), .integer(Int64(size)), .integer(Int64(count))])
            }
            try connection.run(
                "INSERT INTO zone_tombstones (database, name, reason) VALUES (1, x'', 'deleted')")
        }
        let values = try queue.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT unsaved_bytes, (SELECT count(*) FROM zone_tombstones) FROM databases
                """
            ) { [$0.int64(0), $0.int64(1)] }
        }
        #expect(values == [[1_512, 1]])
    }

    @Test("a database with all earlier versions in one gets what shares have since")
    func access() throws {
        let queue = try SQLQueue()
        try update(queue, SQLiteTables.migrations.through("2026-11"))
        try queue.write { connection throws(RecordError) in
            try connection.run(
                """
                INSERT INTO shares (zone, name, short_guid, public_permission)
                VALUES (1, x'73', x'67', 'NONE');
                """)
            try connection.run(
                """
                INSERT INTO participants (zone, share, place, participant_id, type, permission,
                    status)
                VALUES (1, x'73', 0, x'70', 'USER', 'READ_ONLY', 'ACCEPTED')
                """)
        }
        #expect(
            try queue.read { connection throws(RecordError) in
                try !SQLiteTables.migrations.areNewer(connection)
            })
        try update(queue)
        #expect(
            try queue.read { connection throws(RecordError) in
                try !SQLiteTables.migrations.areNewer(connection)
            })
        let found = try queue.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT s.denies_requests, p.is_approved, p.invited IS NULL, p.link IS NULL
                FROM shares s JOIN participants p ON p.share = s.name
                """
            ) { [$0.int64(0), $0.int64(1), $0.int64(2), $0.int64(3)] }
        }
        #expect(found == [[0, 0, 1, 1]])
    }

    @Test("nobody is found who was findable only because nobody had asked")
    func discoverability() throws {
        let queue = try migrated(from: 1) { connection throws(RecordError) in
            try connection.run(
                """
                INSERT INTO users (name, email_address, given_name, family_name, password_hash,
                    administrator, disabled, discoverable, created)
                VALUES (x'5f61', x'6140', x'', x'', x'', 0, 0, 1, 5)
                """)
        }
        let values = try queue.read { connection throws(RecordError) in
            try connection.all("SELECT discoverable, created FROM users") {
                [$0.int64(0), $0.int64(1)]
            }
        }
        #expect(values == [[0, 5]])
    }

    @Test("the stored answers of operations are gone, with what they showed")
    func operations() throws {
        let queue = try migrated(from: 3) { connection throws(RecordError) in
            try connection.run(
                """
                INSERT INTO operations (database, user, operation, at, result)
                VALUES (1, 1, x'6f', 5, x'7b7d')
                """)
        }
        let count = try queue.read { connection throws(RecordError) in
            try connection.all("SELECT COUNT(*) FROM operations") { $0.int64(0) }
        }
        #expect(count == [0])
    }

    @Test("what is used of each quota is counted from the start")
    func quotas() throws {
        let queue = try migrated(from: 7) { connection throws(RecordError) in
            let everyone = Text("_public").utf8
            for (number, container, owner) in [
                (1, "a", Array("_alice".utf8)), (2, "b", Array("_alice".utf8)), (3, "a", everyone),
                (4, "b", everyone),
            ] as [(Int64, String, [UInt8])] {
                try connection.run(
                    "INSERT INTO databases (id, container, environment, owner) VALUES (?, ?, 1, ?)",
                    [.integer(number), .text(Text(container)), .blob(owner)])
                for deleted in [0, 1] as [Int64] {
                    try connection.run(
                        """
                        INSERT INTO zones (database, name, incarnation, record_bytes, asset_bytes,
                            deleted)
                        VALUES (?, ?, 1, ?, 100, ?)
                        """,
                        [
                            .integer(number), .blob([UInt8(deleted)]), .integer(1 << number),
                            .integer(deleted),
                        ])
                }
            }
        }
        let values = try queue.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT h.used_bytes, count(*) FROM quota_holders h
                JOIN databases d ON d.holder = h.id GROUP BY h.id ORDER BY h.used_bytes
                """
            ) { [$0.int64(0), $0.int64(1)] }
        }
        #expect(values == [[108, 1], [116, 1], [206, 2]])
    }

    @Test("members of shares are in the trees of their roots")
    func trees() throws {
        let queue = try migrated(from: 8) { connection throws(RecordError) in
            for (name, root) in [("s1", "r1"), ("s2", "r2"), ("cloudkit.zoneshare", nil)] {
                try connection.run(
                    """
                    INSERT INTO shares (zone, name, root, short_guid, public_permission)
                    VALUES (7, ?, ?, x'', 'NONE')
                    """, [.text(Text(name)), .optional(root.map { Text($0) })])
            }
            for (name, share) in [
                ("r1", "s1"), ("c", "s1"), ("r2", "s2"), ("x", nil), ("y", "gone"),
            ] {
                try connection.run(
                    """
                    INSERT INTO records (zone, name, type, tag, position, deleted, has_assets,
                        created, created_by, created_on, modified, modified_by, modified_on,
                        share, fields)
                    VALUES (7, ?, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, ?, x'')
                    """, [.text(Text(name)), .optional(share.map { Text($0) })])
            }
        }
        let found = try queue.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT r.name, t.top, t.share, r.tree FROM records r
                LEFT JOIN trees t ON t.zone = r.zone AND t.number = r.tree ORDER BY r.name
                """
            ) { row -> [Text] in
                let tree: Text = row.isNull(3) ? "-" : "+"
                return [
                    row.value(0), row.valueIfPresent(1) ?? "-", row.valueIfPresent(2) ?? "-", tree,
                ]
            }
        }
        #expect(
            found == [
                ["c", "r1", "s1", "+"], ["r1", "r1", "s1", "+"], ["r2", "r2", "s2", "+"],
                ["x", "-", "-", "-"], ["y", "-", "-", "-"],
            ])
    }
}

extension SQLiteTables {
    /// What servers had until they did all versions in one: each in a migration of its own.
    static func migrations(until version: Int) -> SQLMigrations {
        SQLMigrations(
            versions.prefix(version).enumerated().map { number, sql in
                SQLMigrations.Migration("v\(number + 1)") { (connection, _) throws(RecordError) in
                    try connection.execute(sql)
                }
            })
    }
}
