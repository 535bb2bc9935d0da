import Glibc
package import RecordModel
import RecordSQL
package import RecordStore

/// The records of a store as tables of a database of their own, which questions in SQL read as fast
/// as any table.
///
/// It is a cache in the state directory. Each use first brings it up to date by the history: what
/// changed since the last use is read again. The process that has the store open removes it when
/// nobody has used it for a while, and when content has to be erased.
package struct RecordMirror {
    private let store: RecordStore
    private let path: String
    private let progress: (Int64) -> Void

    /// The form of the tables. A mirror of another form is made again.
    private static let format: Int64 = 1
    /// The changes from which on all is read again, which is then faster.
    private static let longestBacklog: Int64 = 200_000

    /// Creates the access to the mirror of a store.
    ///
    /// - Parameter progress: called with the number of records read, now and then.
    package init(
        of store: RecordStore, progress: @escaping (Int64) -> Void = { _ in }
    ) throws(RecordError) {
        self.store = store
        path = try store.upkeep.mirrorPath()
        self.progress = progress
    }

    /// Brings the mirror up to date, and returns the path of its database.
    package func update() throws(RecordError) -> String {
        // What came during the first round is little in the second.
        for _ in 0..<3 {
            guard try isUsable() else {
                try build()
                continue
            }
            if try catchUp() { break }
        }
        // From here on it is used.
        guard utimensat(AT_FDCWD, path, nil, 0) == 0 else {
            throw RecordError.systemCall("use \(path)", errno)
        }
        return path
    }

    // MARK: State

    /// The state of the store that a mirror shows.
    private struct State: Equatable {
        let format: Int64
        let device: Int64
        let inode: Int64
        let token: Int64
        /// The time of the version with the token: another one is of another history.
        let at: Int64
    }

    private func isUsable() throws(RecordError) -> Bool {
        guard access(path, F_OK) == 0 else { return false }
        do throws(RecordError) {
            let database = try SQLQueue(path: path, Self.options)
            defer { database.close() }
            let known = try database.use { connection throws(RecordError) in
                try Self.state(connection)
            }
            guard let known else { return false }
            guard try state(at: known.token) == known else { return false }
            return try store.past.lastToken() - known.token < Self.longestBacklog
        } catch {
            // A cache that cannot be read is made again.
            return false
        }
    }

    /// Returns the state that a mirror has which was made at a token. Nil when the version is gone.
    private func state(at token: Int64) throws(RecordError) -> State? {
        let file = try store.upkeep.databaseFile()
        var at: Int64 = 0
        if token > 0 {
            guard let version = try store.past.versionEntry(token) else { return nil }
            at = version.0.at.nanoseconds
        }
        return State(
            format: Self.format, device: file.device, inode: file.inode, token: token, at: at)
    }

    private static func state(_ connection: SQLConnection) throws(RecordError) -> State? {
        try connection.first("SELECT format, device, inode, token, at FROM mirror") { row in
            State(
                format: row.int64(0), device: row.int64(1), inode: row.int64(2),
                token: row.int64(3), at: row.int64(4))
        }
    }

    /// - Parameter isChecked: whether the mirror had as many records as the store then.
    private static func save(
        _ state: State, isChecked: Bool, _ connection: SQLConnection
    ) throws(RecordError) {
        try connection.run("DELETE FROM mirror")
        let numbers = [state.format, state.device, state.inode, state.token, state.at]
        try connection.run(
            "INSERT INTO mirror VALUES (?, ?, ?, ?, ?, ?)",
            numbers.map { .integer($0) } + [.bool(isChecked)])
    }

    private static let options: SQLOptions = {
        var options = SQLOptions()
        options.hasForeignKeys = false
        options.busySeconds = 600
        // Nothing is lost with a cache: after a power cut it is made again.
        options.script = "PRAGMA synchronous = OFF"
        return options
    }()

    // MARK: Building

    /// Makes the mirror anew beside an old one, and puts it in its place.
    private func build() throws(RecordError) {
        let new = "\(path)-\(getpid())"
        unlink(new)
        // The umask does not matter: nobody else may read it.
        let file = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw RecordError.systemCall("make \(new)", errno) }
        close(file)
        do throws(RecordError) {
            var options = Self.options
            options.script += "; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE"
            let database = try SQLQueue(path: new, options)
            defer { database.close() }
            try database.write { connection throws(RecordError) in
                try connection.run(
                    "CREATE TABLE mirror (format, device, inode, token, at, checked)")
                try connection.run("CREATE TABLE waiting (id INTEGER PRIMARY KEY)")
                guard let state = try state(at: try store.past.lastToken()) else { return }
                try Self.save(state, isChecked: false, connection)
                for (table, places) in try tables() { try fill(table, places, connection) }
            }
        } catch {
            unlink(new)
            throw error
        }
        guard rename(new, path) == 0 else {
            throw RecordError.systemCall("rename \(new)", errno)
        }
    }

    /// Returns the tables of the store, each with the places that have its records.
    private func tables() throws(RecordError) -> [(MirrorTable, [MirrorPlace])] {
        var places: [RecordTypeName: [MirrorPlace]] = [:]
        for database in Database.allCases {
            for zone in try store.zones(in: database) {
                for type in try store.types(in: zone.id) {
                    places[type.name, default: []].append(MirrorPlace(zone: zone, type: type))
                }
            }
        }
        var taken: Set<String> = []
        return try places.keys.sorted().map { (name) throws(RecordError) in
            let table = MirrorTable(
                MirrorTable.free("\(name)", &taken), try store.schema(of: name))
            return (table, places[name] ?? [])
        }
    }

    private func fill(
        _ table: MirrorTable, _ places: [MirrorPlace], _ connection: SQLConnection
    ) throws(RecordError) {
        for statement in table.creation { try connection.execute(statement) }
        for place in places {
            var count: Int64 = 0
            try store.withNamedRecords(in: place.type.id) {
                (entry, name, text) throws(RecordError) in
                try connection.run(
                    table.insertion, try table.row(entry, name, text, in: place))
                count += 1
                if count % 10_000 == 0 { progress(count) }
            }
        }
    }

    // MARK: Following

    /// Applies the changes since the last use. Returns false when the mirror has to be made again.
    private func catchUp() throws(RecordError) -> Bool {
        let database = try SQLQueue(path: path, Self.options)
        defer { database.close() }
        return try database.write { connection throws(RecordError) in
            guard let known = try Self.state(connection) else { return false }
            let tables = try tables()
            // A type that came, is gone, or has other fields: its table is made anew.
            let names = try Self.known(connection)
            for (table, places) in tables where names[table.name] != table.creation[0] {
                if names[table.name] != nil {
                    for statement in table.removal { try connection.execute(statement) }
                }
                try fill(table, places, connection)
            }
            let present = Set(tables.map(\.0.name))
            for name in names.keys where !present.contains(name) {
                for statement in MirrorTable(name, RecordSchema(fields: [])).removal {
                    try connection.execute(statement)
                }
            }
            let last = try store.past.lastToken()
            // What leaves without a version is erased, and the mirror with it.
            try apply(after: known.token, through: last, tables, connection)
            if known.token == last, try Self.isChecked(connection) { return true }
            guard try hasAll(tables, connection), let state = try state(at: last) else {
                // Something left without a version: content that was erased.
                try connection.run("DELETE FROM mirror")
                return false
            }
            try Self.save(state, isChecked: true, connection)
            return true
        }
    }

    private static func isChecked(_ connection: SQLConnection) throws(RecordError) -> Bool {
        try connection.exists("SELECT 1 FROM mirror WHERE checked")
    }

    /// Returns the tables of a mirror, each with the statement that has made it.
    private static func known(
        _ connection: SQLConnection
    ) throws(RecordError) -> [String: String] {
        let rows = try connection.all(
            """
            SELECT substr(name, 6), sql FROM sqlite_schema
            WHERE type = 'table' AND name LIKE 'data %'
            """
        ) { ($0.string(0), $0.string(1)) }
        return Dictionary(rows) { $1 }
    }

    private func apply(
        after token: Int64, through last: Int64, _ tables: [(MirrorTable, [MirrorPlace])],
        _ connection: SQLConnection
    ) throws(RecordError) {
        let rows = MirrorRows(store: store, tables: tables, connection: connection)
        try hideWaiting(rows, connection)
        var at = token
        var done: Set<RecordID> = []
        while at < last {
            let changes = try store.past.changedRecords(after: at, limit: 1000)
            guard let end = changes.last?.token else { return }
            for change in changes where done.insert(change.record).inserted {
                try rows.refresh(change.record)
            }
            at = end
            progress(Int64(done.count))
        }
    }

    /// Takes out the records whose deletions wait: no mount shows them. Those that have come back
    /// since are put in again, for which there is no version.
    private func hideWaiting(
        _ rows: MirrorRows, _ connection: SQLConnection
    ) throws(RecordError) {
        let waiting = try store.upkeep.recordsThatWait()
        let known = Set(
            try connection.all("SELECT id FROM waiting") { RecordID($0.int64(0)) })
        for record in waiting.symmetricDifference(known) { try rows.refresh(record) }
        guard waiting != known else { return }
        try connection.run("DELETE FROM waiting")
        for record in waiting {
            try connection.run("INSERT INTO waiting VALUES (?)", [.integer(record.rawValue)])
        }
    }

    /// Returns whether the mirror has as many records of each type as the store.
    private func hasAll(
        _ tables: [(MirrorTable, [MirrorPlace])], _ connection: SQLConnection
    ) throws(RecordError) -> Bool {
        let counts = try store.upkeep.recordCounts()
        for (table, places) in tables {
            let found = try connection.first(table.count) { $0.int64(0) } ?? 0
            if found != places.reduce(0, { $0 + (counts[$1.type.id] ?? 0) }) { return false }
        }
        return true
    }
}

/// The rows of single records in a mirror.
private struct MirrorRows {
    private let store: RecordStore
    private let tables: [MirrorTable]
    private let places: [TypeID: (MirrorTable, MirrorPlace)]
    private let connection: SQLConnection

    init(
        store: RecordStore, tables: [(MirrorTable, [MirrorPlace])], connection: SQLConnection
    ) {
        self.store = store
        self.connection = connection
        self.tables = tables.map(\.0)
        var places: [TypeID: (MirrorTable, MirrorPlace)] = [:]
        for (table, all) in tables { for place in all { places[place.type.id] = (table, place) } }
        self.places = places
    }

    /// Gives a record the row that it has in the store now, or none.
    func refresh(_ record: RecordID) throws(RecordError) {
        for table in tables { try connection.run(table.deletion, [.integer(record.rawValue)]) }
        guard let entry = try store.record(record), entry.state == .saved,
            let (table, place) = places[entry.type],
            let name = try store.meta(of: entry.id)?.name,
            let text = try store.savedText(of: entry.id)
        else { return }
        try connection.run(table.insertion, try table.row(entry, name, text, in: place))
    }
}
