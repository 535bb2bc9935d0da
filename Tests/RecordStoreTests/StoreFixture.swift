import FoundationEssentials
import RecordModel
import RecordStore
import RecordStoreSync
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A store in a fresh directory, with one zone of a database and the types Note and Task in it.
final class StoreFixture {
    let clock = ManualClock()
    let directory: String
    private(set) var store: RecordStore
    let zone: ZoneInfo
    let note: TypeID
    let task: TypeID
    private let seen = SeenChanges()

    final class SeenChanges: Sendable {
        private let list = Mutex<[StoreChange]>([])
        func add(_ changes: [StoreChange]) { list.withLock { $0 += changes } }
        func take() -> [StoreChange] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }
    }

    init(_ database: Database = .private, limits: RecordLimits = .standard) throws {
        directory = temporaryDirectory()
        let options = StoreOptions(clock: clock, limits: limits)
        let store = try RecordStore.open(directory: directory, options: options)
        self.store = store
        (zone, note, task) = try store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(database, .me, ZoneName("Box"))
            return (
                zone, try transaction.makeType(zone.id, RecordTypeName("Note")).id,
                try transaction.makeType(zone.id, RecordTypeName("Task")).id
            )
        }
        observe()
    }

    deinit {
        do {
            try store.close()
            try FileManager.default.removeItem(atPath: directory)
        } catch {
            Issue.record("clean-up failed: \(error)")
        }
    }

    /// The types with their names, for tests that choose one.
    var types: [(name: String, id: TypeID)] { [("Note", note), ("Task", task)] }

    private func observe() {
        let seen = seen
        store.observe { seen.add($0) }
    }

    /// The changes that observers heard since the last call.
    func changes() -> [StoreChange] { seen.take() }

    func reopen(limits: RecordLimits = .standard) throws {
        try store.close()
        store = try RecordStore.open(
            directory: directory, options: StoreOptions(clock: clock, limits: limits))
        observe()
    }

    /// Does something to the database's file while nobody has it open.
    func whileClosed(_ body: (String) throws -> Void) throws {
        try store.close()
        try body(directory + "/store.sqlite")
        store = try RecordStore.open(directory: directory, options: StoreOptions(clock: clock))
        observe()
    }

    func write<T>(
        _ author: Author = .mount, _ body: (Transaction) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        try store.write(author: author, body)
    }

    @discardableResult
    func save(
        _ stem: String, _ text: String, type: TypeID? = nil, author: Author = .mount,
        id: RecordID? = nil, modified: Timestamp? = nil
    ) throws(RecordError) -> SaveResult {
        try write(author) { transaction throws(RecordError) in
            try transaction.records.save(
                text: Array(text.utf8), type: type ?? self.note, stem: Stem(stem), id: id,
                modified: modified)
        }
    }

    /// Runs the body as a program that calls the mount: a process group of one session.
    func program<T>(
        _ group: Int32, _ name: String = "vim",
        isRunning: @escaping @Sendable (Int32) -> Bool = { _ in true }, _ body: () throws -> T
    ) rethrows -> T {
        let table = ProgramTable(program: { $0 }, isRunning: isRunning, session: { _ in 1 })
        let caller = CallingProgram(thread: group, table: table, name: { name })
        return try CallingProgram.$current.withValue(caller, operation: body)
    }

    func record(_ stem: String, type: TypeID? = nil) throws(RecordError) -> RecordEntry? {
        try store.record(type ?? note, Stem(stem))
    }

    /// What the file shows.
    func text(_ stem: String, type: TypeID? = nil) throws(RecordError) -> String? {
        guard let entry = try record(stem, type: type) else { return nil }
        return try store.text(of: entry.id).map { String(decoding: $0, as: UTF8.self) }
    }

    func savedText(_ id: RecordID) throws(RecordError) -> String? {
        try store.savedText(of: id).map { String(decoding: $0, as: UTF8.self) }
    }

    func draft(_ stem: String, _ text: String) throws(RecordError) -> RecordEntry {
        try write { transaction throws(RecordError) in
            try transaction.records.saveDraft(
                text: Array(text.utf8), type: self.note, stem: Stem(stem),
                error: RecordError(
                    .invalidJSON, "expected a value",
                    at: TextPosition(line: 1, column: 2, offset: 1)))
        }
    }

    func beginDelete(_ id: RecordID) throws(RecordError) {
        try write { transaction throws(RecordError) in try transaction.records.beginDelete(id) }
    }

    /// A waiting delete that becomes final at once.
    func delete(_ id: RecordID, author: Author = .mount) throws(RecordError) {
        try write(author) { transaction throws(RecordError) in
            try transaction.records.beginDelete(id)
            try transaction.records.finalizeDelete(id)
        }
    }

    func outbox() throws(RecordError) -> [OutboxRow] { try store.syncState.outbox(limit: 1000) }

    /// The operations that wait to be sent, those on their way with a star.
    func pending() throws(RecordError) -> [String] {
        try outbox().map { "\($0.name) \($0.operation)\($0.batch == nil ? "" : "*")" }
    }

    func claim(_ limits: ClaimLimits = ClaimLimits()) throws(RecordError) -> [OutboxClaim] {
        try write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.claimOutbox(in: self.zone.id, limits: limits)
        }
    }

    func complete(_ claim: OutboxClaim, tag: String = "t1") throws(RecordError) {
        try write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.completeOutbox(claim, changeTag: tag)
        }
    }

    func fail(_ claim: OutboxClaim, error: String? = nil) throws(RecordError) {
        try write(.sync) { transaction throws(RecordError) in
            try transaction.outbox.failOutbox(claim.row.id, error: error)
        }
    }

    /// The server takes everything that waits.
    func sendAll(tag: String = "t1") throws(RecordError) {
        for claim in try claim() { try complete(claim, tag: tag) }
    }

    func kinds(_ name: String) throws(RecordError) -> [ChangeKind] {
        try store.past.history(of: RecordName(name), in: zone.id).map(\.kind)
    }

    func expectSound(_ location: SourceLocation = #_sourceLocation) throws(RecordError) {
        let problems = try store.upkeep.integrityCheck(deep: true)
        #expect(problems == [], sourceLocation: location)
    }
}

/// A new directory that the test removes.
func temporaryDirectory() -> String {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    return "\(base)/recordfs-store-\(UUID().uuidString)"
}

/// The error that `body` throws, nil when it throws none.
func failure<T>(_ body: () throws -> T) -> RecordError? {
    do {
        _ = try body()
        return nil
    } catch {
        if let error = error as? RecordError { return error }
        Issue.record("\(error) is no RecordError")
        return nil
    }
}
