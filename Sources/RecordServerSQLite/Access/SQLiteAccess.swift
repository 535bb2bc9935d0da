import Logging
import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// The connection inside one body of `read` or `write`, with the errors of the server.
///
/// The functions of the storage are its extensions; each is a few statements.
final class SQLiteAccess {
    private let connection: SQLConnection
    private let logger: Logger
    private let isWriting: Bool
    private(set) var names: NameTable
    let schemas: SchemaCache
    /// The places of the records that this transaction has read or written. Nil stands for records
    /// that do not exist.
    var places: [RecordKey: RecordPlace?] = [:]
    /// The shares of the trees of the records that were read. The inner nil stands for no share.
    var treeShares: [TreeKey: RecordName?] = [:]
    /// The error after which SQLite has rolled back by itself. Anything that a body did after that
    /// would be committed statement by statement.
    private(set) var lostTransaction: RecordError?

    init(
        _ connection: SQLConnection, _ caches: StorageCaches, isWriting: Bool, logger: Logger
    ) {
        self.connection = connection
        names = caches.names.snapshot
        schemas = caches.schemas
        self.isWriting = isWriting
        self.logger = logger
    }

    var keepsPlaces: Bool { isWriting }

    func statement(_ sql: String, _ values: [SQLValue] = []) throws(ServerError) -> SQLStatement {
        if let lostTransaction { throw ServerError(storage: lostTransaction, logger) }
        do throws(RecordError) {
            return try connection.statement(sql, values)
        } catch {
            throw failure(error)
        }
    }

    func step(_ statement: SQLStatement) throws(ServerError) -> Bool {
        do throws(RecordError) {
            return try statement.step()
        } catch {
            throw failure(error)
        }
    }

    /// Runs a statement that returns no rows, or whose rows do not matter.
    func run(_ sql: String, _ values: [SQLValue] = []) throws(ServerError) {
        let statement = try statement(sql, values)
        defer { if values.contains(where: \.isLarge) { statement.clear() } }
        while try step(statement) {}
    }

    /// The statements that a batch runs for each record or more often. Finding such a statement by
    /// its text costs as much as running it.
    enum Hot: Int, CaseIterable {
        case insertRecord, insertIndexEntry, insertIndexList
    }

    private var hot = [SQLStatement?](repeating: nil, count: Hot.allCases.count)

    /// Returns the statement, to be bound by the caller. Its text is `sql` each time.
    func statement(
        _ which: Hot, _ sql: @autoclosure () -> String
    ) throws(ServerError) -> SQLStatement {
        if let lostTransaction { throw ServerError(storage: lostTransaction, logger) }
        if let known = hot[which.rawValue] {
            known.reset()
            return known
        }
        let made = try statement(sql())
        hot[which.rawValue] = made
        return made
    }

    func bind(
        _ value: SQLValue, to index: Int32, of statement: SQLStatement
    ) throws(ServerError) {
        do throws(RecordError) {
            try statement.bind(value, to: index)
        } catch {
            throw failure(error)
        }
    }

    /// Runs a hot statement with these values.
    func run(
        _ which: Hot, _ sql: @autoclosure () -> String, _ values: [SQLValue]
    ) throws(ServerError) {
        let statement = try statement(which, sql())
        do throws(RecordError) {
            try statement.bind(values)
        } catch {
            throw failure(error)
        }
        defer { if values.contains(where: \.isLarge) { statement.clear() } }
        while try step(statement) {}
    }

    /// Returns the first row, or nil.
    func first<Value>(
        _ sql: String, _ values: [SQLValue] = [],
        _ read: (SQLStatement) throws(ServerError) -> Value
    ) throws(ServerError) -> Value? {
        let statement = try statement(sql, values)
        guard try step(statement) else { return nil }
        defer { statement.reset() }
        return try read(statement)
    }

    /// Returns all rows. `read` may use the storage, but not this statement.
    func all<Value>(
        _ sql: String, _ values: [SQLValue] = [],
        _ read: (SQLStatement) throws(ServerError) -> Value
    ) throws(ServerError) -> [Value] {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        var rows: [Value] = []
        while try step(statement) { rows.append(try read(statement)) }
        return rows
    }

    /// Returns the rows up to the one after which there is no room for more.
    func all<Value>(
        _ sql: String, _ values: [SQLValue], room: inout ReadingRoom,
        _ read: (SQLStatement, inout ReadingRoom) throws(ServerError) -> Value
    ) throws(ServerError) -> [Value] {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        var rows: [Value] = []
        while !room.isFull, try step(statement) { rows.append(try read(statement, &room)) }
        return rows
    }

    func exists(_ sql: String, _ values: [SQLValue] = []) throws(ServerError) -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    var lastInsertedRow: Int64 { connection.lastInsertedRow }

    /// The rows that the last writing statement changed.
    var changedRows: Int { connection.changedRows }

    private func failure(_ error: RecordError) -> ServerError {
        if isWriting, !connection.isInsideTransaction { lostTransaction = error }
        return ServerError(storage: error, logger)
    }
}

/// The room for one read, so that a slice of large records does not fill the memory.
struct ReadingRoom {
    private var bytes: Int

    init(_ bytes: Int) { self.bytes = bytes }

    var isFull: Bool { bytes <= 0 }
    mutating func take(_ record: StoredRecord) { bytes -= record.bytes }
}

extension SQLiteAccess {
    /// Returns the name with this number.
    func name(_ number: Int64) throws(ServerError) -> [UInt8] {
        if let name = names.names[number] { return name }
        let name = try first("SELECT name FROM names WHERE id = ?", [.integer(number)]) {
            $0.bytes(0)
        }
        guard let name else { throw damaged("a name of a record is missing") }
        names.add(name, number)
        return name
    }

    /// Returns the number of a name, if it was ever stored.
    func number(_ name: [UInt8]) throws(ServerError) -> Int64? {
        if let number = names.number(name) { return number }
        let number = try first("SELECT id FROM names WHERE name = ?", [.blob(name)]) {
            $0.int64(0)
        }
        if let number { names.add(name, number) }
        return number
    }

    /// Returns the number of a name, and gives it one when it has none.
    func makeNumber(_ name: [UInt8]) throws(ServerError) -> Int64 {
        if let number = try number(name) { return number }
        try run("INSERT INTO names (name) VALUES (?)", [.blob(name)])
        let number = lastInsertedRow
        names.add(name, number)
        return number
    }

    /// Returns the error for a row that only a fault of this program or of the disk can have made.
    func damaged(_ what: String) -> ServerError {
        ServerError(storage: RecordError(.corrupt, "The database is damaged: \(what)."), logger)
    }
}
