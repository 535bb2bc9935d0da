package import RecordModel

/// A connection inside one database access: cached statements with typed errors.
package struct SQLConnection {
    let handle: SQLHandle

    init(_ handle: SQLHandle) { self.handle = handle }

    /// Returns the prepared statement of `sql` with `values` bound. The statement is kept for the
    /// life of the connection.
    package func statement(_ sql: String, _ values: [SQLValue] = []) throws(RecordError)
        -> SQLStatement
    {
        let statement = try handle.statement(sql)
        statement.reset()
        try statement.bind(values)
        return statement
    }

    /// Runs a statement that returns no rows, or whose rows do not matter.
    package func run(_ sql: String, _ values: [SQLValue] = []) throws(RecordError) {
        guard values.contains(where: \.isLarge) else {
            let statement = try statement(sql, values)
            while try statement.step() {}
            return
        }
        let statement = try statement(sql)
        defer { statement.clear() }
        try statement.lend(values) { () throws(RecordError) in while try statement.step() {} }
    }

    /// Returns the first row, or nil. The row is read before the statement is reset.
    package func first<T>(
        _ sql: String, _ values: [SQLValue] = [],
        _ read: (SQLStatement) throws(RecordError) -> T
    ) throws(RecordError) -> T? {
        let statement = try statement(sql, values)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return try read(statement)
    }

    /// Returns whether a query has a row.
    package func exists(
        _ query: String, _ values: [SQLValue] = []
    ) throws(RecordError) -> Bool {
        try first("SELECT EXISTS (\(query))", values) { $0.bool(0) } ?? false
    }

    /// Returns all rows.
    package func all<T>(
        _ sql: String, _ values: [SQLValue] = [],
        _ read: (SQLStatement) throws(RecordError) -> T
    ) throws(RecordError) -> [T] {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        var rows: [T] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }

    /// Calls `body` for each row. If `body` throws, the read ends.
    package func each(
        _ sql: String, _ values: [SQLValue] = [],
        _ body: (SQLStatement) throws(RecordError) -> Void
    ) throws(RecordError) {
        let statement = try statement(sql, values)
        defer { statement.reset() }
        while try statement.step() { try body(statement) }
    }

    /// Runs several statements without parameters, for example those of a migration.
    package func execute(_ script: String) throws(RecordError) { try handle.execute(script) }

    /// Runs `body` in one transaction of this kind (DEFERRED, IMMEDIATE). Its error rolls
    /// everything back.
    package func inTransaction<T>(
        _ kind: String, _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        try run("BEGIN \(kind)")
        do throws(RecordError) {
            let result = try body(self)
            try run("COMMIT")
            return result
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends a transaction that only read.
    func endRead() { abandon() }

    /// Rolls back, unless SQLite has already done so by itself, after SQLITE_FULL or SQLITE_IOERR.
    package func rollBack() throws(RecordError) {
        if isInsideTransaction { try run("ROLLBACK") }
    }

    /// Rolls back. When that fails, the next BEGIN fails too and tells it.
    private func abandon() {
        do throws(RecordError) { try rollBack() } catch {}
    }

    /// Adds a function of SQL without arguments.
    package func add(
        function name: String, _ value: @escaping () -> Int64
    ) throws(RecordError) {
        try handle.add(function: name, value)
    }

    /// Copies the whole database to that of another connection.
    func copy(to target: SQLConnection) throws(RecordError) { try handle.copy(to: target.handle) }

    /// The row of the last INSERT into a table with a row id.
    package var lastInsertedRow: Int64 { handle.lastInsertedRow }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changedRows: Int { handle.changedRows }

    package var isInsideTransaction: Bool { handle.isInsideTransaction }
}
