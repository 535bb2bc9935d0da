import CSQLite
import RecordModel

/// SQLite's connection and its prepared statements. One thread at a time may use it, which
/// `SQLQueue` ensures.
final class SQLHandle {
    private let connection: OpaquePointer
    private var statements: [StatementText: OpaquePointer] = [:]
    /// The statements that somebody has typed.
    private var typed: [OpaquePointer] = []
    private var functions: [String: Function] = [:]
    private var tracer: Tracer?
    private var judge: Judge?
    private var watch: Watch?

    /// Opens a connection. `path` may be a URI (https://www.sqlite.org/uri.html). Without a path,
    /// the database is in memory.
    init(path: String?, _ options: SQLOptions) throws(RecordError) {
        SQLiteLibrary.setUp()
        let access =
            options.isReadOnly && path != nil
            ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(
            path ?? ":memory:", &opened,
            access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE, nil)
        // After most failures there is a connection, which knows the reason.
        guard let opened else {
            throw RecordError(sqliteCode: code, message: "there is no memory for a connection")
        }
        connection = opened
        guard code == SQLITE_OK else { throw failure(code) }
        try setUp(path, options)
    }

    private func setUp(_ path: String?, _ options: SQLOptions) throws(RecordError) {
        try check(sqlite3_busy_timeout(connection, options.busySeconds * 1000))
        // A mistyped column name in double quotes is an error, not a text.
        try check(recordfs_sqlite3_forbid_quoted_texts(connection))
        try execute("PRAGMA foreign_keys = \(options.hasForeignKeys ? "ON" : "OFF")")
        // The first read finds out whether the file is a database.
        try execute("SELECT * FROM sqlite_master LIMIT 1")
        if !options.script.isEmpty { try execute(options.script) }
        // Last, because it writes the file's header, which has the choice of `auto_vacuum`.
        if options.hasLog, !options.isReadOnly, path != nil { try makeLog() }
    }

    private func makeLog() throws(RecordError) {
        let statement = try statement("PRAGMA journal_mode = WAL")
        defer { statement.reset() }
        guard try statement.step(), statement.string(0) == "wal" else {
            throw RecordError(
                .ioFailure,
                "The database cannot have a write-ahead log where it is; move its directory to a "
                    + "local disk.")
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        for statement in typed { sqlite3_finalize(statement) }
        // The statements that a caller may have left open keep the connection until they end.
        sqlite3_close_v2(connection)
    }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(connection) }
    var changedRows: Int { Int(sqlite3_changes64(connection)) }
    var isInsideTransaction: Bool { sqlite3_get_autocommit(connection) == 0 }

    /// Returns the prepared statement of `sql`, which is kept for the life of the connection.
    func statement(_ sql: String) throws(RecordError) -> SQLStatement {
        let text = StatementText(sql: sql)
        if let known = statements[text] { return SQLStatement(known) }
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        guard let prepared else {
            throw RecordError(sqliteCode: SQLITE_MISUSE, message: "a statement is empty")
        }
        statements[text] = prepared
        return SQLStatement(prepared)
    }

    /// Prepares one statement that somebody has typed, which is kept for the life of the connection.
    func typedStatement(_ sql: String) throws(RecordError) -> SQLStatement {
        let outcome = sql.withCString { start in
            Result { () throws(RecordError) in try typedStatement(at: start) }
        }
        return try outcome.get()
    }

    private func typedStatement(
        at start: UnsafePointer<CChar>
    ) throws(RecordError) -> SQLStatement {
        var found: OpaquePointer?
        var rest: UnsafePointer<CChar>? = start
        // Comments and semicolons are statements without an effect.
        while let text = rest, text.pointee != 0 {
            var prepared: OpaquePointer?
            let code = sqlite3_prepare_v3(
                connection, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &rest)
            guard code == SQLITE_OK else {
                if let found { sqlite3_finalize(found) }
                throw typingError(code, text: start, at: text)
            }
            guard let prepared else { continue }
            guard found == nil else {
                sqlite3_finalize(prepared)
                sqlite3_finalize(found)
                throw RecordError(.invalidArgument, "write one statement at a time.")
            }
            found = prepared
        }
        guard let found else { throw RecordError(.invalidArgument, "there is no statement.") }
        typed.append(found)
        return SQLStatement(found)
    }

    private func typingError(
        _ code: Int32, text: UnsafePointer<CChar>, at part: UnsafePointer<CChar>
    ) -> RecordError {
        let message = String(cString: sqlite3_errmsg(connection))
        switch code & 0xff {
        case SQLITE_AUTH:
            return RecordError(
                .notPermitted, "\(message): records are only read here. recordfs set changes them.")
        case SQLITE_ERROR:
            let offset = sqlite3_error_offset(connection)
            guard offset >= 0 else { return RecordError(.invalidArgument, message) }
            let place = part - text + Int(offset)
            return RecordError(
                .invalidArgument, message,
                at: TextPosition(offset: place, in: Array(String(cString: text).utf8)))
        default: return failure(code)
        }
    }

    /// Runs several statements without parameters. Rows do not matter.
    func execute(_ script: String) throws(RecordError) {
        let code = sqlite3_exec(connection, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// Copies the whole database to another one, as of one point in time
    /// (https://www.sqlite.org/backup.html).
    func copy(to target: SQLHandle) throws(RecordError) {
        guard let backup = sqlite3_backup_init(target.connection, "main", connection, "main") else {
            throw target.failure(sqlite3_errcode(target.connection))
        }
        let stepped = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        if stepped == SQLITE_DONE, finished == SQLITE_OK { return }
        let code = finished == SQLITE_OK ? stepped : finished
        throw RecordError(sqliteCode: code, message: String(cString: sqlite3_errstr(code)))
    }

    private func check(_ code: Int32) throws(RecordError) {
        guard code == SQLITE_OK else { throw failure(code) }
    }

    private func failure(_ code: Int32) -> RecordError {
        RecordError(sqliteCode: code, message: String(cString: sqlite3_errmsg(connection)))
    }
}

// MARK: - Callbacks of SQLite

extension SQLHandle {
    private final class Function {
        let value: () -> Int64
        init(_ value: @escaping () -> Int64) { self.value = value }
    }

    private final class Tracer {
        let note: (String) -> Void
        init(_ note: @escaping (String) -> Void) { self.note = note }
    }

    private final class Judge {
        let isAllowed: (SQLAccess) -> Bool
        init(_ isAllowed: @escaping (SQLAccess) -> Bool) { self.isAllowed = isAllowed }
    }

    private final class Watch {
        let isOver: () -> Bool
        init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
    }

    func restrict(_ isAllowed: @escaping (SQLAccess) -> Bool) {
        let judge = Judge(isAllowed)
        self.judge = judge
        sqlite3_set_authorizer(
            connection,
            { address, code, _, second, database, view in
                guard let address else { return SQLITE_DENY }
                func text(_ pointer: UnsafePointer<CChar>?) -> String {
                    pointer.map { String(cString: $0) } ?? ""
                }
                let access: SQLAccess =
                    switch code {
                    case SQLITE_READ:
                        .read(
                            column: text(second), database: text(database),
                            view: view.map { String(cString: $0) })
                    case SQLITE_FUNCTION: .function(text(second))
                    case SQLITE_SELECT, SQLITE_RECURSIVE: .select
                    default: .other
                    }
                let judge = Unmanaged<Judge>.fromOpaque(address).takeUnretainedValue()
                return judge.isAllowed(access) ? SQLITE_OK : SQLITE_DENY
            }, Unmanaged.passUnretained(judge).toOpaque())
    }

    func interrupt(when isOver: @escaping () -> Bool) {
        let watch = Watch(isOver)
        self.watch = watch
        // The steps of SQLite's machine between two calls: some milliseconds.
        sqlite3_progress_handler(
            connection, 100_000,
            { address in
                guard let address else { return 0 }
                let watch = Unmanaged<Watch>.fromOpaque(address).takeUnretainedValue()
                return watch.isOver() ? 1 : 0
            }, Unmanaged.passUnretained(watch).toOpaque())
    }

    /// Adds a function of SQL without arguments.
    func add(function name: String, _ value: @escaping () -> Int64) throws(RecordError) {
        let function = Function(value)
        // The connection keeps the function, and SQLite only its address.
        functions[name] = function
        try check(
            sqlite3_create_function_v2(
                connection, name, 0, SQLITE_UTF8, Unmanaged.passUnretained(function).toOpaque(),
                { context, _, _ in
                    guard let address = sqlite3_user_data(context) else { return }
                    let function = Unmanaged<Function>.fromOpaque(address).takeUnretainedValue()
                    sqlite3_result_int64(context, function.value())
                }, nil, nil, nil))
    }

    /// Calls `note` with each statement that begins from now on. Nil ends it. SQLite reports the
    /// statements of a trigger as comments (https://www.sqlite.org/c3ref/c_trace.html).
    func trace(_ note: ((String) -> Void)?) {
        tracer = note.map(Tracer.init)
        guard let tracer else {
            sqlite3_trace_v2(connection, 0, nil, nil)
            return
        }
        sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_STMT),
            { _, address, _, text in
                guard let address, let text else { return 0 }
                let tracer = Unmanaged<Tracer>.fromOpaque(address).takeUnretainedValue()
                tracer.note(String(cString: text.assumingMemoryBound(to: CChar.self)))
                return 0
            }, Unmanaged.passUnretained(tracer).toOpaque())
    }
}

/// The text of a statement as a key. Its hash is its length: the statements of a program are few and
/// mostly differ in length, and a hash of all their bytes took a twentieth of a short transaction.
private struct StatementText: Hashable {
    let sql: String

    func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }
}
