import Glibc
import RecordModel
import RecordStore

/// The directories below `.recordfs`. A name is found with a query for one row: a listing for each
/// name would make a walk through a directory quadratic.
final class ControlDirectory: Sendable {
    let conflicts: Conflicts
    let modelFiles: ModelFiles
    let modes: FileModes
    let moments: Moments
    let mounted: Timestamp
    let places: TypeDirectories
    let records: OpenRecords
    let store: RecordStore
    let trash: TrashEntries

    init(
        _ ground: Ground, _ recordRooms: RecordRooms, conflicts: Conflicts, moments: Moments,
        trash: TrashEntries
    ) {
        self.conflicts = conflicts
        modelFiles = ModelFiles(store: ground.store)
        modes = ground.modes
        self.moments = moments
        mounted = ground.mounted
        places = ground.places
        records = recordRooms.records
        store = ground.store
        self.trash = trash
    }

    /// Returns attributes without size and time.
    func kindAttributes(_ path: ControlPath) -> Attributes {
        let mode: UInt32
        switch path.shape {
        case .directory(let isWritable):
            var attributes = modes.directory(.none, modified: mounted, isWritable: isWritable)
            attributes.inode = path.inode
            return attributes
        case .symlink: mode = UInt32(S_IFLNK) | 0o777
        case .file(let permissions): mode = UInt32(S_IFREG) | permissions
        }
        var attributes = modes.file(.none, size: 0, modified: mounted, 0)
        attributes.mode = mode
        attributes.inode = path.inode
        return attributes
    }

    func find(_ name: [UInt8], in path: ControlPath) throws(RecordError) -> Node? {
        try find(name, below: path).map { .control($0) }
    }

    private func find(_ name: [UInt8], below path: ControlPath) throws(RecordError)
        -> ControlPath?
    {
        let word = String(decoding: name, as: UTF8.self)
        switch path {
        case .root: return controlRoot(word)
        case .errors: return try findError(name)
        case .section(.schema) where word == "development.ckdb":
            return .schema(isProduction: false)
        case .section(.schema) where word == "production.ckdb": return .schema(isProduction: true)
        case .section(let section): return Database(name: word).map { .database(section, $0) }
        case .database(let section, .shared):
            guard let owner = OwnerName(fileName: name),
                try zones(section, .shared).contains(where: { $0.owner == owner })
            else { return nil }
            return .owner(section, owner)
        case .database(let section, let database):
            return try findZone(name, of: .me, in: section, database)
        case .owner(let section, let owner):
            return try findZone(name, of: owner, in: section, .shared)
        case .zone(.search, let zone): return .results(.search(zone, name))
        case .zone(.export, let zone): return try findExport(word, in: zone)
        case .zone(.schema, let zone): return try modelFiles.findSchema(name, in: zone)
        case .zone(.raw, let zone): return try modelFiles.findType(name, in: zone)
        case .rawType(let zone, let type): return try modelFiles.find(name, in: zone, type)
        case .model: return word == ModelFiles.modelName ? .modelText : nil
        case .zone(let section, let zone): return try findType(name, in: section, zone)
        case .type(.query, let type): return .results(.query(type, name))
        case .type(.meta, let type):
            guard case .record(let stem) = EntryName(classifying: name) else { return nil }
            return try records.find(type, stem).map { .meta($0.record) }
        case .keptType(.trash, let zone, let type): return try trash.find(name, in: zone, type)
        case .keptType(.conflicts, let zone, let type):
            return try conflicts.find(name, in: zone, type)
        case .keptType(_, let zone, let type): return try findHistory(name, in: zone, type)
        case .conflict(let id): return try conflicts.findFile(word, in: id)
        case .history(let zone, let type, let record):
            return try findVersion(name, of: record, in: zone, type)
        case .results(let set):
            return try findResult(name, in: set).map { .result(set, $0) }
        case .moments: return try moments.find(word)
        case .past(let token, let place): return try moments.find(name, in: place, at: token)
        case .status, .events, .ctl, .metrics, .error, .schema, .type, .export, .meta, .version,
            .trashed, .conflictFile, .result, .typeSchema, .raw, .modelText, .pastAsset:
            return nil
        }
    }

    private func controlRoot(_ name: String) -> ControlPath? {
        switch name {
        case "status.json": .status
        case "events": .events
        case "ctl": .ctl
        case "metrics": .metrics
        case "errors": .errors
        case "model": modelFiles.isAttached ? .model : nil
        case "at": .moments
        default: section(named: name).map { .section($0) }
        }
    }

    private func section(named name: String) -> ControlPath.Section? {
        guard let section = ControlPath.Section(rawValue: name),
            !section.needsModel || modelFiles.isAttached
        else { return nil }
        return section
    }

    private func findError(_ name: [UInt8]) throws(RecordError) -> ControlPath? {
        let digits = name.prefix { $0 != UInt8(ascii: "-") }
        guard let number = Int64(String(decoding: digits, as: UTF8.self)),
            let draft = try store.refusal(of: RecordID(number)), Self.errorFileName(draft) == name
        else { return nil }
        return .error(draft.record)
    }

    static func errorFileName(_ draft: Refusal) -> [UInt8] {
        Array("\(draft.record.rawValue)-".utf8) + draft.stem.bytes + Array(".txt".utf8)
    }

    private func findZone(
        _ name: [UInt8], of owner: OwnerName, in section: ControlPath.Section,
        _ database: Database
    ) throws(RecordError) -> ControlPath? {
        guard let zone = NameCodec.decode(name).map(ZoneName.init(bytes:)) else { return nil }
        let found =
            section.kept == nil
            ? try store.zone(database, owner, zone) : try store.past.keptZone(database, owner, zone)
        return found.map { .zone(section, $0.id) }
    }

    private func findType(
        _ name: [UInt8], in section: ControlPath.Section, _ zone: ZoneID
    ) throws(RecordError) -> ControlPath? {
        guard let type = ZoneMapping.plain.typeName(ofDirectory: name) else { return nil }
        guard section.kept != nil else {
            return try store.model.shownType(zone, type).map { .type(section, $0.id) }
        }
        return try store.past.hasKeptType(zone, type) ? .keptType(section, zone, type) : nil
    }

    private func findExport(_ name: String, in zone: ZoneID) throws(RecordError) -> ControlPath? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let format = TransferFormat(rawValue: String(parts[1])),
            let type = try store.model.shownType(zone, RecordTypeName(parts[0]))
        else { return nil }
        return .export(type.id, format)
    }

    private func findVersion(
        _ name: [UInt8], of record: RecordName, in zone: ZoneID, _ type: RecordTypeName
    ) throws(RecordError) -> ControlPath? {
        let parts = name.split(separator: UInt8(ascii: "."))
        guard parts.count >= 2,
            let token = Int64(String(decoding: parts[parts.count - 2], as: UTF8.self)),
            let (version, home) = try store.past.versionEntry(token), home == zone,
            version.type == type, version.name == record, version.fileName == name
        else { return nil }
        return .version(token)
    }
}

extension Version {
    /// TIME-AUTHOR.TOKEN.json. The token distinguishes two versions of the same millisecond.
    var fileName: [UInt8] {
        Array("\(at.iso8601)-\(author.rawValue).\(token).json".utf8)
    }
}
