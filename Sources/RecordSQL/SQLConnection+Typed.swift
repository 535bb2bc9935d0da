import CSQLite
package import RecordModel

/// An access of a statement that somebody has typed (https://www.sqlite.org/c3ref/c_alter_table.html).
package enum SQLAccess {
    /// Reads a column of a table. The view is the innermost one through which the statement reads
    /// it. The column is empty when the statement only counts rows.
    case read(column: String, database: String, view: String?)
    case function(String)
    /// Runs a query, or one that refers to itself.
    case select
    /// Everything else: it may change something, or open another file.
    case other
}

extension SQLConnection {
    /// Prepares one statement that somebody has typed.
    ///
    /// - Throws: invalidArgument for a text that is no statement, with the place, for several
    ///   statements, and for none.
    package func typedStatement(_ sql: String) throws(RecordError) -> SQLStatement {
        try handle.typedStatement(sql)
    }

    /// Asks `isAllowed` about each access of the statements that are prepared from now on. A
    /// statement with one that is refused is not prepared.
    package func restrict(_ isAllowed: @escaping (SQLAccess) -> Bool) {
        handle.restrict(isAllowed)
    }

    /// Calls `isOver` now and then while a statement runs. The statement ends with interrupted when
    /// it returns true.
    package func interrupt(when isOver: @escaping () -> Bool) { handle.interrupt(when: isOver) }
}

extension SQLStatement {
    /// Returns whether a text ends with a semicolon that ends a statement.
    package static func isComplete(_ text: String) -> Bool { sqlite3_complete(text) != 0 }

    package var columnCount: Int32 { sqlite3_column_count(handle) }

    package func columnName(_ column: Int32) -> String {
        sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
    }

    /// Returns the value of a column of this row, whatever its type.
    package func cell(_ column: Int32) -> SQLCell {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_NULL: .null
        case SQLITE_INTEGER: .integer(int64(column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(handle, column))
        case SQLITE_TEXT: .text(bytes(column))
        default: .blob(bytes(column))
        }
    }
}

/// A value that a statement has returned.
package enum SQLCell: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])
}
