import RecordModel
import RecordSQL
import RecordWire
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// Databases of servers before, opened by this one.
@Suite("Migrations of sessions and couriers") struct CredentialMigrationTests {
    /// The tables of version 1, with a session, its courier and a frame.
    private func first(at path: String) throws {
        let queue = try SQLQueue(path: path)
        try queue.use { connection throws(RecordError) in
            try SQLiteTables.migrations(until: 1).apply(to: connection)
        }
        try queue.write { connection throws(RecordError) in
            try connection.execute(
                """
                INSERT INTO sessions VALUES
                    (CAST('5e5510' AS BLOB), CAST('_a11ce' AS BLOB), CAST('iCloud.x' AS BLOB),
                    0, 7, 70, 1, 900, 0, CAST('label' AS BLOB));
                INSERT INTO push_devices VALUES
                    (1, CAST('c0' AS BLOB), CAST('iCloud.x' AS BLOB), 0,
                    CAST('_a11ce' AS BLOB), CAST('client' AS BLOB),
                    CAST('development' AS BLOB), CAST('t' AS BLOB), 1, 50);
                INSERT INTO push_frames VALUES (1, 1, x'01');
                """)
        }
        queue.close()
    }

    @Test("a session of version 1 keeps its newest token and that before it")
    func sessions() async throws {
        let directory = try StorageDirectory()
        try first(at: directory.database)
        let storage = try SQLiteStorage.open(path: directory.database)
        let session = try #require(
            try await storage.read { (reader) throws(ServerError) in
                try reader.session("5e5510")
            })
        #expect(session.generation == 7)
        #expect(session.generationMilliseconds == 70)
        #expect(session.label == "label")
        var use = TokenUse(session)
        let good = [5, 6, 7, 8].map { use.accept($0, at: 80, grace: 120) }
        #expect(good == [false, true, true, true])
        storage.close()
    }

    @Test("a courier of version 1, of which nobody knows the session, has ended")
    func couriers() async throws {
        let directory = try StorageDirectory()
        try first(at: directory.database)
        let storage = try SQLiteStorage.open(path: directory.database)
        let device = try await storage.read { (reader) throws(ServerError) in
            try reader.pushDevice(courierHash: "c0")
        }
        #expect(device == nil)
        storage.close()
    }
}
