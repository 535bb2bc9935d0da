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
    private let progress: (Int) -> Void

    /// The form of the tables. A mirror of another form is made again.
    private static let format: Int64 = 1
    /// The tables of the mirror itself. No record type has such a name.
    private static let stateTable = "\"the state\""
    private static let waitingTable = "\"the waiting\""
    /// The changes from which on all is read again, which is then faster.
    private static let longestBacklog: Int64 = 200_000

    /// Creates the access to the mirror of a store.
    ///
    /// - Parameter progress: called with the number of records read, now and then.
    package init(
        of store: RecordStore, progress: @escaping (Int) -> Void = { _ in }
    ) throws(RecordError) {
        self.store = store
        path = try store.upkeep.mirrorPath()
        self.progress = progress
    }

    /// Brings the mirror up to date, and returns the path of its database.
    package func update() throws(RecordError) -> String {
        // What came during the first round is little in the second.
        for _ in 0..<3 {
            if try catchUp() { break }
            try build()
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
        try connection.first("SELECT format, device, inode, token, at FROM \(Self.stateTable)") {
            row in
            State(
                format: row.int64(0), device: row.int64(1), inode: row.int64(2),
                token: row.int64(3), at: row.int64(4))
        }
    }

    /// - Parameter isChecked: whether the mirror had as many records as the store then.
    private static func save(
        _ state: State, isChecked: Bool, _ connection: SQLConnection
    ) throws(RecordError) {
        try connection.run("DELETE FROM \(Self.stateTable)")
        let numbers = [state.format, state.device, state.inode, state.token, state.at]
        try connection.run(
            "INSERT INTO \(Self.stateTable) VALUES (?, ?, ?, ?, ?, ?)",
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
        try LocalFile.remove(new)
        try LocalFile.make(new)
        do throws(RecordError) {
            var options = Self.options
            options.script += "; PRAGMA journal_mode = OFF; PRAGMA locking_mode = EXCLUSIVE"
            let database = try SQLQueue(path: new, options)
            defer { database.close() }
            try database.write { connection throws(RecordError) in
                try connection.run(
                    "CREATE TABLE \(Self.stateTable) (format, device, inode, token, at, checked)")
                try connection.run("CREATE TABLE \(Self.waitingTable) (id INTEGER PRIMARY KEY)")
                guard let state = try state(at: try store.past.lastToken()) else { return }
                try Self.save(state, isChecked: false, connection)
                for (table, places) in try tables() { try fill(table, places, connection) }
            }
        } catch {
            try LocalFile.remove(new)
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
        var taken = MirrorTable.reserved
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
            var count = 0
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
        guard let database = opened() else { return false }
        defer { database.close() }
        return try database.write { connection throws(RecordError) in
            guard let known = try Self.state(connection), try state(at: known.token) == known else {
                return false
            }
            let last = try store.past.lastToken()
            guard last - known.token < Self.longestBacklog else { return false }
            let tables = try tables()
            try makeAnew(tables, connection)
            try apply(after: known.token, through: last, tables, connection)
            // What leaves without a version is erased, and the mirror with it: a mirror that had all
            // at this token has all of it still.
            if known.token == last, try Self.isChecked(connection) { return true }
            guard try hasAll(tables, connection), let state = try state(at: last) else {
                return false
            }
            try Self.save(state, isChecked: true, connection)
            return true
        }
    }

    /// Opens the mirror. Nil when there is none, or when it cannot be read: a cache is made again.
    private func opened() -> SQLQueue? {
        guard access(path, F_OK) == 0 else { return nil }
        do throws(RecordError) {
            let database = try SQLQueue(path: path, Self.options)
            _ = try database.use { connection throws(RecordError) in try Self.state(connection) }
            return database
        } catch {
            return nil
        }
    }

    /// Makes the tables of types anew that came or have other fields, and removes those of types that
    /// are gone.
    private func makeAnew(
        _ tables: [(MirrorTable, [MirrorPlace])], _ connection: SQLConnection
    ) throws(RecordError) {
        let known = try Self.known(connection)
        for (table, places) in tables where known[table.name] != table.creation[0] {
            if known[table.name] != nil { try Self.remove(table.name, connection) }
            try fill(table, places, connection)
        }
        let present = Set(tables.map(\.0.name))
        for name in known.keys where !present.contains(name) {
            try Self.remove(name, connection)
        }
    }

    private static func remove(_ name: String, _ connection: SQLConnection) throws(RecordError) {
        for statement in MirrorTable.removal(of: name) { try connection.execute(statement) }
    }

    private static func isChecked(_ connection: SQLConnection) throws(RecordError) -> Bool {
        try connection.exists("SELECT 1 FROM \(stateTable) WHERE checked")
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
            progress(done.count)
        }
    }

    /// Takes out the records whose deletions wait: no mount shows them. Those that have come back
    /// since are put in again, for which there is no version.
    private func hideWaiting(
        _ rows: MirrorRows, _ connection: SQLConnection
    ) throws(RecordError) {
        let waiting = try store.upkeep.recordsThatWait()
        let known = Set(
            try connection.all("SELECT id FROM \(Self.waitingTable)") { RecordID($0.int64(0)) })
        for record in waiting.symmetricDifference(known) { try rows.refresh(record) }
        guard waiting != known else { return }
        try connection.run("DELETE FROM \(Self.waitingTable)")
        for record in waiting {
            try connection.run(
                "INSERT INTO \(Self.waitingTable) VALUES (?)", [.integer(record.rawValue)])
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
