import RecordModel
import RecordServer
import RecordServerCore
import RecordServerSQLite
import RecordWire
import Testing

@Suite("First run") struct FirstRunTests {
    private let now = SystemClock().now

    private func prepare(
        _ storage: any Storage, _ container: Text = "iCloud.org.example.app"
    ) async throws -> FirstRun? {
        try await FirstRun.prepare(storage, container: container, now: now, cost: .quick)
    }

    @Test("of servers that start together on an empty storage only one makes the first run")
    func together() async throws {
        let directory = try StorageDirectory()
        let storages = try (0..<4).map { _ in try SQLiteStorage.open(path: directory.database) }
        let made = try await withThrowingTaskGroup(of: FirstRun?.self) { group in
            for storage in storages { group.addTask { try await prepare(storage) } }
            return try await group.reduce(into: [FirstRun]()) { if let run = $1 { $0.append(run) } }
        }
        #expect(made.count == 1)
        let accounts = Accounts(storage: storages[0])
        #expect(try await accounts.users().count == 1)
        #expect(try await accounts.apiTokens("iCloud.org.example.app").count == 2)
        for storage in storages { await storage.shutDown() }
    }

    @Test("a first run that fails leaves nothing, so that the next one is the first")
    func fails() async throws {
        let storage = try SQLiteStorage.open(path: nil)
        await #expect(throws: ServerError.self) { try await prepare(storage, "no container") }
        #expect(try await Accounts(storage: storage).users().isEmpty)
        #expect(try await prepare(storage) != nil)
        #expect(try await prepare(storage) == nil)
    }
}
