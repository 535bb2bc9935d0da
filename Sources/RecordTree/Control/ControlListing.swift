import RecordModel
import RecordStore
import Synchronization

/// The names in the directories below `.recordfs`.
extension ControlDirectory {
    /// Lists the names that the directory had when the listing began. Names are listed without
    /// attributes: the kernel may not keep those of computed files and would ask again.
    func list(
        _ path: ControlPath, _ cursor: DirectoryCursor, _ offset: UInt64,
        _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        if case .past(let token, .type(let zone, let type)) = path {
            return try moments.list(zone, type, at: token, cursor, offset, add)
        }
        if offset == 0 {
            let names = try controlNames(in: path)
            cursor.snapshot.withLock { $0.controls = names }
        }
        let names = cursor.snapshot.withLock { $0.controls }
        for index in Int(clamping: offset)..<max(names.count, Int(clamping: offset)) {
            let entry = NodeEntry(
                node: .none, attributes: kindAttributes(names[index].path), isCacheable: false)
            let listed = ListedEntry(
                name: names[index].name, entry: entry, next: UInt64(index) + 1)
            guard add(listed) else { return }
        }
    }

    private func controlNames(in path: ControlPath) throws(RecordError) -> [ControlName] {
        switch path {
        case .root: return rootNames
        case .errors:
            return try store.refusals().map {
                ControlName(Self.errorFileName($0), .error($0.record))
            }
        case .section(.schema):
            return [
                ControlName("development.ckdb", .schema(isProduction: false)),
                ControlName("production.ckdb", .schema(isProduction: true)),
            ] + (try databaseNames(.schema))
        case .section(let section): return try databaseNames(section)
        case .database(let section, let database): return try zoneNames(section, database)
        case .owner(let section, let owner):
            return try zones(section, .shared).filter { $0.owner == owner }
                .map { ControlName(NameCodec.encode($0.name.bytes), .zone(section, $0.id)) }
        case .zone(.schema, let zone): return try modelFiles.schemas(in: zone)
        case .zone(.raw, let zone): return try modelFiles.types(in: zone)
        case .rawType(let zone, let type): return try modelFiles.records(in: zone, type)
        case .model: return [ControlName(ModelFiles.modelName, .modelText)]
        case .zone(let section, let zone): return try typeNames(section, zone)
        case .type(.meta, let type): return try metaNames(of: type)
        case .keptType(.trash, let zone, let type):
            return try trash.names(in: zone, type)
        case .keptType(.conflicts, let zone, let type):
            return try conflicts.names(in: zone, type)
        case .conflict(let id): return try conflicts.fileNames(of: id)
        case .keptType(_, let zone, let type):
            return try historyNames(in: zone, type)
        case .history(let zone, let type, let name):
            return try store.past.history(of: name, in: zone).filter { $0.type == type }
                .map { ControlName($0.fileName, .version($0.token)) }
        case .results(let set): return try resultNames(of: set)
        case .moments: return try moments.names()
        case .past(let token, let place): return try moments.names(in: place, at: token)
        case .type, .status, .events, .ctl, .metrics, .error, .schema, .export, .meta, .version,
            .trashed, .conflictFile, .result, .typeSchema, .raw, .modelText, .pastAsset:
            return []
        }
    }

    private var rootNames: [ControlName] {
        let sections = ControlPath.Section.allCases.filter {
            !$0.needsModel || modelFiles.isAttached
        }
        return [
            ControlName("status.json", .status), ControlName("events", .events),
            ControlName("ctl", .ctl), ControlName("metrics", .metrics),
            ControlName("errors", .errors),
        ] + sections.map { ControlName($0.rawValue, .section($0)) }
            + (modelFiles.isAttached ? [ControlName("model", .model)] : [])
    }

    private func databaseNames(_ section: ControlPath.Section) throws(RecordError)
        -> [ControlName]
    {
        var names: [ControlName] = []
        for database in Database.allCases {
            if section.canBeEmptied, try zones(section, database).isEmpty { continue }
            names.append(ControlName(database.name, .database(section, database)))
        }
        return names
    }

    private func zoneNames(_ section: ControlPath.Section, _ database: Database)
        throws(RecordError) -> [ControlName]
    {
        let zones = try zones(section, database)
        guard database == .shared else {
            return zones.map { ControlName(NameCodec.encode($0.name.bytes), .zone(section, $0.id)) }
        }
        return Set(zones.map(\.owner)).sorted().map {
            ControlName($0.fileName, .owner(section, $0))
        }
    }

    func zones(_ section: ControlPath.Section, _ database: Database) throws(RecordError)
        -> [ZoneInfo]
    {
        guard let kept = section.kept else { return try store.zones(in: database) }
        return try store.past.zones(in: database, with: kept)
    }

    private func typeNames(_ section: ControlPath.Section, _ zone: ZoneID) throws(RecordError)
        -> [ControlName]
    {
        if let kept = section.kept {
            return try store.past.types(in: zone, with: kept).map {
                ControlName(
                    ZoneMapping.plain.directoryName(of: $0), .keptType(section, zone, $0))
            }
        }
        if section == .search { return [] }
        return try store.model.shownTypes(in: zone).flatMap { type in
            let name = ZoneMapping.plain.directoryName(of: type.name)
            guard section == .export else {
                return [ControlName(name, .type(section, type.id))]
            }
            return TransferFormat.allCases.map { format in
                ControlName(name + Array(".\(format.rawValue)".utf8), .export(type.id, format))
            }
        }
    }

    private func metaNames(of type: TypeID) throws(RecordError) -> [ControlName] {
        var names: [ControlName] = []
        var last = RecordID(0)
        while true {
            let rows = try store.records(in: type, after: last, limit: 1000)
            names += rows.lazy.filter { !$0.isAwaited }.map {
                ControlName($0.stem.fileName, .meta($0.id))
            }
            guard let end = rows.last else { return names }
            last = end.id
        }
    }
}
