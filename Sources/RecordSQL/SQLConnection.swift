package import RecordModel

package import class GRDB.Database

/// A connection inside one database access: cached statements with typed errors.
package struct SQLConnection {
    private let database: GRDB.Database

    package init(_ database: GRDB.Database) { self.database = database }

    /// Returns the prepared statement of `sql` with `values` bound. The statement is kept for the
    /// life of the connection.
    package func statement(_ sql: String, _ values: [SQLValue] = []) throws(RecordError)
        -> SQLStatement
    {
        do {
            let statement = SQLStatement(try database.cachedStatement(sql: sql))
            statement.reset()
            try statement.bind(values)
            return statement
        } catch {
            throw RecordError(storeError: error)
        }
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
    package func execute(script: String) throws(RecordError) {
        do {
            try database.execute(sql: script)
        } catch {
            throw RecordError(storeError: error)
        }
    }

    /// The row of the last INSERT into a table with a row id.
    package var lastInsertedRow: Int64 { database.lastInsertedRowID }

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    package var changedRows: Int { database.changesCount }

    package var isInsideTransaction: Bool { database.isInsideTransaction }
}
