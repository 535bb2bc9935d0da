import FoundationEssentials
import Glibc
import RecordModel
import RecordSQL

/// The part of a damaged database that can be read, row by row. Rows that cannot be read are
/// skipped and reported.
struct Salvage {
    /// The directory for the records that no server is known to have.
    let folder: String
    let assets: AssetFiles
    var losses: [String] = []
    private(set) var sentCount = 0
    private(set) var unsentCount = 0

    private struct Zone {
        let database: Database
        let path: [[UInt8]]
    }

    private struct RecordRow {
        let type: Int64
        let stem: Stem
        let state: Int64
        let version: Int64?
    }

    private struct AssetRow {
        let field: FieldName
        let index: Int?
        let hash: ContentHash
        let fileExtension: [UInt8]
    }

    private var zones: [Int64: Zone] = [:]
    private var types: [Int64: (zone: Int64, name: [UInt8])] = [:]
    private var records: [Int64: RecordRow] = [:]
    private var assetRows: [Int64: [AssetRow]] = [:]
    /// The records that the server has acknowledged, and the records with changes that are still in
    /// the outbox.
    private var known: Set<Int64> = []
    private var waiting: Set<Int64> = []
    /// The records whose files show a text that was refused: only this machine has it.
    private var drafted: Set<Int64> = []
    /// False when a row of a record could not be read. Then the versions show which records exist.
    private var knowsRecords = true
    /// Indicates whether all outgoing changes could be read. Otherwise it is unknown which records
    /// the server lacks.
    private var knowsOutbox = true

    init(folder: String, assets: AssetFiles) {
        self.folder = folder
        self.assets = assets
    }

    /// Reads the database and writes the files. Throws only errors of writing the files; data that
    /// cannot be read is no error.
    mutating func read(_ connection: SQLConnection) throws(RecordError) {
        readPlaces(connection)
        for id in rows(connection, "base", "record_id", { $0.int64(0) }) { known.insert(id) }
        let before = losses.count
        for id in rows(connection, "outbox", "id", columns: "record_id", { $0.int64(1) }) {
            waiting.insert(id)
        }
        knowsOutbox = losses.count == before
        if !knowsOutbox {
            losses.append("It is unknown which records were not sent: all are written to files.")
        }
        let texts = try readTexts(connection)
        for (id, text) in texts.sorted(by: { $0.key < $1.key }) { try write(id, text) }
        for (id, record) in records where texts[id] == nil && record.state == 0 {
            losses.append("The text of record \(record.stem) cannot be read.")
        }
    }

    private mutating func readPlaces(_ connection: SQLConnection) {
        let zones = rows(connection, "zone", "id", columns: "database, owner, name") { row in
            (row.int64(0), row.int64(1), OwnerName(bytes: row.bytes(2)), row.bytes(3))
        }
        for (id, database, owner, name) in zones {
            let database = Database(rawValue: database) ?? .local
            let above = database == .shared ? [owner.fileName] : []
            self.zones[id] = Zone(
                database: database,
                path: [Array(database.name.utf8)] + above + [NameCodec.encode(name)])
        }
        for (id, zone, name) in rows(
            connection, "record_type", "id", columns: "zone_id, name",
            { ($0.int64(0), $0.int64(1), $0.bytes(2)) })
        {
            types[id] = (zone, name)
        }
        let before = losses.count
        for (id, row) in rows(
            connection, "record", "id",
            columns: "type_id, stem, state, \(hasVersions(connection) ? "version" : "NULL")",
            {
                (
                    $0.int64(0),
                    RecordRow(
                        type: $0.int64(1), stem: Stem(bytes: $0.bytes(2)), state: $0.int64(3),
                        version: $0.int64IfPresent(4))
                )
            })
        {
            records[id] = row
        }
        knowsRecords = losses.count == before
        let assets = rows(
            connection, "asset", "id", columns: "record_id, field, idx, hash, ext",
            { (row) -> (Int64, AssetRow)? in
                guard !row.isNull(4) else { return nil }
                let index = row.int64(3)
                return (
                    row.int64(1),
                    AssetRow(
                        field: FieldName(bytes: row.bytes(2)),
                        index: index < 0 ? nil : Int(clamping: index),
                        hash: ContentHash(hex: row.string(4)), fileExtension: row.bytes(5))
                )
            })
        for case let (record, asset)? in assets { assetRows[record, default: []].append(asset) }
    }

    /// Finds the records whose rows cannot be read, from their last versions.
    private mutating func readLostRecords(_ connection: SQLConnection) {
        guard !knowsRecords else { return }
        var places: [Int64: [[UInt8]: Int64]] = [:]
        for (id, type) in types { places[type.zone, default: [:]][type.name] = id }
        let deleted = Array(ChangeKind.deleted.rawValue.utf8)
        let versions = rows(
            connection, "history", "token", columns: "record_id, zone_id, name, type, kind",
            {
                (
                    token: $0.int64(0), id: $0.int64(1), zone: $0.int64(2),
                    stem: Stem(encoding: RecordName(bytes: $0.bytes(3))), type: $0.bytes(4),
                    isDeleted: $0.bytes(5) == deleted
                )
            })
        var lost: [Int64: RecordRow] = [:]
        for version in versions where records[version.id] == nil {
            lost[version.id] =
                version.isDeleted
                ? nil
                : RecordRow(
                    type: places[version.zone]?[version.type] ?? 0, stem: version.stem, state: 0,
                    version: version.token)
        }
        records.merge(lost) { known, _ in known }
    }

    /// Reads the versions on pages that the table no longer leads to.
    private mutating func strayVersions(
        _ connection: SQLConnection
    ) -> [(token: Int64, id: Int64, text: [UInt8]?)] {
        do {
            // The log of this copy is moved into it.
            try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
            let path = try connection.first("SELECT file FROM pragma_database_list") {
                $0.string(0)
            }
            return try path.flatMap { try StrayVersions(path: $0)?.all() }.map {
                $0.map { ($0.token, $0.record, $0.text) }
            } ?? []
        } catch {
            losses.append("The pages of history cannot be looked through: \(error)")
            return []
        }
    }

    /// Returns whether the store knows the version of each record.
    private func hasVersions(_ connection: SQLConnection) -> Bool {
        do throws(RecordError) {
            return try connection.exists(
                "SELECT 1 FROM pragma_table_info('record') WHERE name = 'version'")
        } catch {
            return false
        }
    }

    /// Returns the text of each record: the draft rather than the saved text, and for a damaged
    /// text the last version that is complete.
    private mutating func readTexts(
        _ connection: SQLConnection
    ) throws(RecordError) -> [Int64: [UInt8]] {
        readLostRecords(connection)
        var texts: [Int64: [UInt8]] = [:]
        let before = losses.count
        var versions = rows(
            connection, "history", "token", columns: "record_id, text, checksum",
            { (token: $0.int64(0), id: $0.int64(1), text: $0.wholeText(2)) })
        if losses.count > before {
            let found = Set(versions.map(\.token))
            versions += strayVersions(connection).filter { !found.contains($0.token) }
            versions.sort { $0.token < $1.token }
        }
        for (token, id, text) in versions {
            guard let record = records[id], record.state == 0 else { continue }
            if let text {
                texts[id] = text
            } else if record.version == token {
                losses.append("The text of \(record.stem) in history is damaged.")
            }
        }
        for table in ["record_text", "draft"] {
            let found = rows(
                connection, table, "record_id", columns: "text, checksum",
                { ($0.int64(0), $0.wholeText(1)) })
            for (id, text) in found {
                if let text {
                    // An empty draft is a save that never came.
                    if text.isEmpty, texts[id] != nil { continue }
                    texts[id] = text
                    if table == "draft" { drafted.insert(id) }
                } else {
                    let stem = records[id]?.stem.description ?? "number \(id)"
                    losses.append("The text of \(stem) in \(table) is damaged.")
                }
            }
        }
        return texts
    }

    /// Returns the rows of a table that can be read, by their numbers. After a row that cannot be
    /// read, it looks for the next readable row at growing distances.
    private mutating func rows<T>(
        _ connection: SQLConnection, _ table: String, _ key: String, columns: String = "1",
        _ read: (SQLStatement) -> T
    ) -> [T] {
        var found: [T] = []
        var (last, distance) = (Int64.min, Int64(0))
        while true {
            do throws(RecordError) {
                let start = last.addingClamped(distance)
                try connection.each(
                    "SELECT \(key), \(columns) FROM \(table) WHERE \(key) > ? ORDER BY \(key)",
                    [.integer(start)]
                ) { row in
                    found.append(read(row))
                    last = row.int64(0)
                    distance = 0
                }
                return found
            } catch {
                let loss = "A part of the table \(table) cannot be read."
                if losses.last != loss { losses.append(loss) }
                guard distance < 1 << 40 else { return found }
                // The first search in a damaged table begins before all numbers.
                if last == .min { last = 0 }
                distance = max(1, distance * 2)
            }
        }
    }

    private mutating func write(_ id: Int64, _ text: [UInt8]) throws(RecordError) {
        let record = records[id]
        guard record?.state != 2 else { return }
        let place = record.flatMap { types[$0.type] }
        let zone = place.flatMap { zones[$0.zone] }
        let isSynced = zone?.database.isSynced ?? true
        let isSent = known.contains(id) && !waiting.contains(id) && !drafted.contains(id)
        if isSynced, knowsOutbox, isSent {
            sentCount += 1
            return
        }
        unsentCount += 1
        let parts = (zone?.path ?? [Array("lost".utf8)]) + (place.map { [$0.name] } ?? [])
        let stem = record?.stem ?? Stem("record-\(id)")
        let directory = parts.reduce(folder) {
            $0 + "/" + String(decoding: $1, as: UTF8.self)
        }
        do {
            let files = FileManager.default
            try files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            func path(_ name: [UInt8]) -> String {
                directory + "/" + String(decoding: name, as: UTF8.self)
            }
            try Data(text).write(to: URL(filePath: path(stem.fileName)))
            for asset in assetRows[id] ?? [] {
                guard assets.size(of: asset.hash) != nil else { continue }
                let name = EntryName.assetFileName(
                    stem: stem, field: asset.field, index: asset.index,
                    fileExtension: asset.fileExtension)
                if files.fileExists(atPath: path(name)) { continue }
                try files.copyItem(atPath: assets.path(of: asset.hash), toPath: path(name))
            }
        } catch {
            throw RecordError(.ioFailure, "cannot write to \(directory): \(error)")
        }
    }
}
