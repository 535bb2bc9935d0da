import Glibc
import RecordModel
import RecordStore

extension Tree {
    func controlNames(in path: ControlPath) throws(RecordError) -> [[UInt8]] {
        switch path {
        case .root:
            let fixed = ["status.json", "events", "ctl", "metrics", "errors", "schema"]
            return (fixed + ControlPath.Section.allCases.map(\.rawValue)).map { Array($0.utf8) }
        case .errors: return try store.drafts(in: nil).map(Self.errorFileName)
        case .schemas: return ["development.ckdb", "production.ckdb"].map { Array($0.utf8) }
        case .section: return Database.allCases.map { Array($0.name.utf8) }
        case .database(_, let database): return try names(in: Node.database(database)).visible
        case .owner(_, let owner): return try names(in: Node.owner(owner))
        case .zone(.search, _), .type(.query, _): return []
        case .zone(.export, let zone):
            return try store.types(in: zone).flatMap { type in
                TransferFormat.allCases.map { format in
                    type.name.bytes + Array(".\(format.rawValue)".utf8)
                }
            }
        case .zone(_, let zone): return try names(in: Node.zone(zone)).visible
        case .type(let section, let type): return try names(in: section, of: type)
        case .history(let type, let name): return try versions(of: name, in: type).map(\.fileName)
        case .query, .search: return try results(of: path).map(\.name)
        case .status, .events, .ctl, .metrics, .error, .schema, .export, .meta, .version,
            .trashed, .result:
            return []
        }
    }

    private func names(in section: ControlPath.Section, of type: TypeID) throws(RecordError)
        -> [[UInt8]]
    {
        switch section {
        case .trash: try store.trash(in: type).map { $0.stem.fileName }
        case .history:
            try historyNames(of: type).map { Stem(encoding: $0).bytes }
        case .meta: try allStems(of: type).map(\.fileName)
        case .conflicts, .export, .query, .search: []
        }
    }

    private func allStems(of type: TypeID) throws(RecordError) -> [Stem] {
        var stems: [Stem] = []
        var last = RecordID(0)
        while true {
            let rows = try store.records(in: type, after: last, limit: 1000)
            stems += rows.map(\.stem)
            guard let end = rows.last else { return stems }
            last = end.id
        }
    }

    func findControl(_ name: [UInt8], in path: ControlPath) throws(RecordError) -> Node? {
        try find(name, below: path).map { .control($0) }
    }

    private func find(_ name: [UInt8], below path: ControlPath) throws(RecordError)
        -> ControlPath?
    {
        let word = String(decoding: name, as: UTF8.self)
        switch path {
        case .root: return Self.controlRoot(word)
        case .errors:
            return try store.drafts(in: nil).first { Self.errorFileName($0) == name }
                .map { .error($0.record) }
        case .schemas:
            if word == "development.ckdb" { return .schema(isProduction: false) }
            return word == "production.ckdb" ? .schema(isProduction: true) : nil
        case .section(let section): return Database(name: word).map { .database(section, $0) }
        case .database(let section, let database):
            return try find(name, in: .database(database)).flatMap { $0.control(section) }
        case .owner(let section, let owner):
            return try find(name, in: .owner(owner)).flatMap { $0.control(section) }
        case .zone(.search, let zone): return .search(zone, name)
        case .zone(.export, let zone): return try findExport(word, in: zone)
        case .zone(let section, let zone):
            return try find(name, in: .zone(zone)).flatMap { $0.control(section) }
        case .type(.query, let type): return .query(type, name)
        case .type(let section, let type): return try find(name, in: section, of: type)
        case .history(let type, let record):
            return try versions(of: record, in: type).first { $0.fileName == name }
                .map { .version($0.token) }
        case .query, .search:
            return try results(of: path).first { $0.name == name }
                .map { .result(of: path, $0.id) }
        case .status, .events, .ctl, .metrics, .error, .schema, .export, .meta, .version,
            .trashed, .result:
            return nil
        }
    }

    private static func controlRoot(_ name: String) -> ControlPath? {
        switch name {
        case "status.json": .status
        case "events": .events
        case "ctl": .ctl
        case "metrics": .metrics
        case "errors": .errors
        case "schema": .schemas
        default: ControlPath.Section(rawValue: name).map { .section($0) }
        }
    }

    private func findExport(_ name: String, in zone: ZoneID) throws(RecordError) -> ControlPath? {
        let parts = name.split(separator: ".")
        guard parts.count == 2, let format = TransferFormat(rawValue: String(parts[1])),
            let type = try store.type(zone, RecordTypeName(parts[0]))
        else { return nil }
        return .export(type.id, format)
    }

    private func find(_ name: [UInt8], in section: ControlPath.Section, of type: TypeID)
        throws(RecordError) -> ControlPath?
    {
        switch section {
        case .trash:
            return try store.trash(in: type).first { $0.stem.fileName == name }
                .map { .trashed($0.id) }
        case .history:
            guard let record = Stem(bytes: name).decoded,
                try !versions(of: record, in: type).isEmpty
            else { return nil }
            return .history(type, record)
        case .meta:
            guard case .record(let stem) = EntryName(classifying: name) else { return nil }
            return try findRecord(type, stem).map { .meta($0.record) }
        case .conflicts, .export, .query, .search: return nil
        }
    }

    private func historyNames(of type: TypeID) throws(RecordError) -> [RecordName] {
        let place = try place(of: type)
        return try store.historyNames(in: place.zone.id, type: place.type)
    }

    func versions(of name: RecordName, in type: TypeID) throws(RecordError) -> [Version] {
        let place = try place(of: type)
        return try store.history(of: name, in: place.zone.id).filter { $0.type == place.type }
    }

    static func errorFileName(_ draft: Draft) -> [UInt8] {
        Array("\(draft.record.rawValue)-".utf8) + draft.stem.bytes + Array(".txt".utf8)
    }

    /// The records of a query or search, each with the name of its symlink.
    func results(of path: ControlPath) throws(RecordError) -> [(name: [UInt8], id: RecordID)] {
        let entries: [RecordEntry]
        switch path {
        case .query(let type, let text):
            let schema = try store.schema(of: place(of: type).type)
            entries = try store.query(type, try QueryExpression(parsing: text, schema: schema))
        case .search(let zone, let words):
            entries = try store.search(zone, words: String(decoding: words, as: UTF8.self))
        default: entries = []
        }
        var taken: Set<[UInt8]> = []
        var results: [(name: [UInt8], id: RecordID)] = []
        for entry in entries {
            // Record names are unique in a zone, what shows of them (X of X:TYPE) may not be.
            var name = entry.stem.fileName
            if !taken.insert(name).inserted {
                name = try place(of: entry.type).type.bytes + Array(":".utf8) + name
            }
            results.append((name, entry.id))
        }
        return results
    }

    /// The relative path from a symlink in a result to its record.
    func controlSymlink(_ path: ControlPath) throws(RecordError) -> [UInt8] {
        guard case .result(let result, let id) = path, let entry = try store.record(id),
            let directory = directoryPath(of: entry.type)
        else { throw RecordError(.stale, "the record is gone") }
        let parts = directory.split(separator: UInt8(ascii: "/")).count
        // Below the mount point: .recordfs/query/(the directory)/EXPR, and for a search, which is
        // asked of a whole zone, one less.
        let depth = if case .search = result { parts + 2 } else { parts + 3 }
        let up = String(repeating: "../", count: depth)
        return Array(up.utf8) + directory + [UInt8(ascii: "/")] + entry.stem.fileName
    }
}

extension Version {
    /// TIME-AUTHOR.json; the token makes two versions of one millisecond differ.
    var fileName: [UInt8] {
        Array("\(at.iso8601)-\(author.rawValue).\(token).json".utf8)
    }
}

extension Node {
    /// The same place in a section of `.recordfs`.
    fileprivate func control(_ section: ControlPath.Section) -> ControlPath? {
        switch self {
        case .owner(let owner): .owner(section, owner)
        case .zone(let zone): .zone(section, zone)
        case .type(let type): .type(section, type)
        default: nil
        }
    }
}

extension [[UInt8]] {
    /// Without the scratch names of a zone or database directory.
    fileprivate var visible: [[UInt8]] { filter { $0.first != UInt8(ascii: ".") } }
}
