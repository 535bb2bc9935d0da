package import RecordModel
package import RecordSQL
package import RecordStore

/// Answers questions in SQL about the records of a store. Nothing can be changed.
///
/// Each record type is a table with a column for each member. `_history`, `_records` and `_types`
/// show the store itself.
package final class RecordQuestions {
    private let database: SQLQueue
    private let clock = ContinuousClock()

    /// Opens the mirror of a store, which is up to date.
    package init(_ mirror: String, of store: RecordStore) throws(RecordError) {
        var options = SQLOptions()
        options.isReadOnly = true
        options.script = "PRAGMA temp_store = MEMORY"
        database = try SQLQueue(path: mirror, options)
        try database.use { connection throws(RecordError) in
            try connection.run("ATTACH ? AS store", [.text(try store.upkeep.databaseToAttach())])
            for view in AskedViews.statements { try connection.execute(view) }
            // Such tables are made with their first use, which only a connection without limits may.
            for function in ["json_each", "json_tree"] {
                try connection.execute("SELECT * FROM \(function)('[]')")
            }
            connection.restrict { Self.isAllowed($0) }
        }
    }

    /// Returns whether a statement may have an access. The tables of the store have texts that were
    /// refused, keys and other things that are no records: only the views show them.
    private static func isAllowed(_ access: SQLAccess) -> Bool {
        switch access {
        case .select: true
        case .read(let column, let database, let view):
            // What the statement itself defines is in no database. A table of a view of which
            // nothing is read but the number of its rows has no column and no view.
            ["main", "temp", ""].contains(database) || view != nil || column.isEmpty
        case .function(let name):
            !["load_extension", "fts3_tokenizer"].contains(name.lowercased())
        case .other: false
        }
    }

    /// Runs one statement, and calls `begin` with the names of its columns and `body` with each row.
    ///
    /// - Parameter limit: the time after which it is stopped.
    /// - Throws: invalidArgument for a wrong statement, with its place; notPermitted for one that
    ///   changes something; timedOut at the limit; the errors of `begin` and `body`.
    package func ask(
        _ statement: String, limit: Duration?,
        begin: ([String]) throws(RecordError) -> Void,
        row body: ([SQLCell]) throws(RecordError) -> Void
    ) throws(RecordError) {
        let end = limit.map { clock.now + $0 }
        do throws(RecordError) {
            try database.use { connection throws(RecordError) in
                let statement = try connection.typedStatement(statement)
                connection.interrupt { [clock] in end.map { clock.now > $0 } ?? false }
                let columns = 0..<statement.columnCount
                try begin(columns.map { statement.columnName($0) })
                while try statement.step() { try body(columns.map { statement.cell($0) }) }
            }
        } catch {
            guard error.code == .interrupted, let limit else { throw error }
            throw RecordError(
                .timedOut,
                "the question took longer than \(limit.components.seconds) seconds. --timeout "
                    + "allows more.")
        }
    }
}
