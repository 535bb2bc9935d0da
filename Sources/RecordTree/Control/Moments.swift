import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The directories below `.recordfs/at/WHEN`: the tree as it was then. A record there is the file
/// of its version, the same as in `.recordfs/history`.
final class Moments: Sendable {
    private static let namesAhead = 512

    let modes: FileModes
    let options: TreeOptions
    let places: TypeDirectories
    let store: RecordStore
    let workingFiles: WorkingFiles

    init(_ ground: Ground) {
        modes = ground.modes
        options = ground.options
        places = ground.places
        store = ground.store
        workingFiles = ground.workingFiles
    }

    // MARK: Names

    /// Returns the root of a moment: `10m`, `yesterday 18:00`, a date or time, a token, a name.
    func find(_ when: String) throws(RecordError) -> ControlPath? {
        guard let point = RestorePoint(when, now: options.now) else { return nil }
        do throws(RecordError) {
            return .past(try store.moments.tree(at: point).token, .root)
        } catch  where error.code == .notFound {
            return nil
        }
    }

    /// Returns the moments that have a name. The others are endless.
    func names() throws(RecordError) -> [ControlName] {
        try store.moments.named().map { ControlName($0.name.text, .past($0.token, .root)) }
    }

    func find(
        _ name: [UInt8], in place: ControlPath.PastPlace, at token: Int64
    ) throws(RecordError) -> ControlPath? {
        let tree = store.moments.tree(after: token)
        switch place {
        case .type(let zone, let type): return try findFile(name, in: zone, type, tree)
        case .zone(let zone):
            guard let type = ZoneMapping.plain.typeName(ofDirectory: name),
                try tree.types(in: zone).contains(type)
            else { return nil }
            return .past(token, .type(zone, type))
        case .root, .database, .owner:
            return try names(in: place, at: token).first { $0.name == name }?.path
        }
    }

    private func findFile(
        _ name: [UInt8], in zone: ZoneID, _ type: RecordTypeName, _ tree: PastTree
    ) throws(RecordError) -> ControlPath? {
        switch EntryName(classifying: name) {
        case .record(let stem):
            return try tree.record(in: zone, type, stem).map { .version($0.token) }
        case .asset(let stem, let field, let index, _):
            guard let record = try tree.record(in: zone, type, stem),
                let asset = try store.moments.assets(ofVersion: record.token).first(where: {
                    $0.field == field && $0.index == index && $0.fileName(stem) == name
                })
            else { return nil }
            return .pastAsset(version: record.token, asset.field, index: asset.index ?? -1)
        case .scratch: return nil
        }
    }

    /// Returns the names in a directory. Those of a type are listed page by page.
    func names(
        in place: ControlPath.PastPlace, at token: Int64
    ) throws(RecordError) -> [ControlName] {
        let tree = store.moments.tree(after: token)
        switch place {
        case .root:
            return Database.allCases.map { ControlName($0.name, .past(token, .database($0))) }
        case .database(.shared):
            let owners = Set(try tree.zones(in: .shared).map(\.owner))
            return owners.sorted().map { ControlName($0.fileName, .past(token, .owner($0))) }
        case .database(let database):
            return try tree.zones(in: database).map { zone(of: $0, at: token) }
        case .owner(let owner):
            return try tree.zones(in: .shared).filter { $0.owner == owner }
                .map { zone(of: $0, at: token) }
        case .zone(let zone):
            return try tree.types(in: zone).map {
                ControlName(
                    ZoneMapping.plain.directoryName(of: $0), .past(token, .type(zone, $0)))
            }
        case .type: return []
        }
    }

    private func zone(of zone: ZoneInfo, at token: Int64) -> ControlName {
        ControlName(NameCodec.encode(zone.name.bytes), .past(token, .zone(zone.id)))
    }

    // MARK: Files

    /// Lists the records of a type with their large fields, and with attributes that the kernel may
    /// keep: a version never changes.
    func list(
        _ zone: ZoneID, _ type: RecordTypeName, at token: Int64, _ cursor: DirectoryCursor,
        _ offset: UInt64, _ add: (ListedEntry) -> Bool
    ) throws(RecordError) {
        var past = cursor.snapshot.withLock { $0.past }
        if offset != past.position { past = PastCursor() }
        defer { cursor.snapshot.withLock { $0.past = past } }
        let isCacheable = !places.isOfOthers(zone)
        while true {
            if past.waiting.isEmpty {
                guard let after = past.after else { return }
                let (records, next) = try store.moments.tree(after: token).records(
                    in: zone, type, after: after, limit: Self.namesAhead)
                past.after = next
                for record in records { past.waiting += try files(of: record) }
                continue
            }
            if past.position >= offset {
                let file = past.waiting[past.waiting.startIndex]
                let entry = entry(of: file, isCacheable: isCacheable)
                guard
                    add(ListedEntry(name: file.name, entry: entry, next: past.position + 1))
                else { return }
            }
            past.waiting = past.waiting.dropFirst()
            past.position += 1
        }
    }

    private func files(of record: PastRecord) throws(RecordError) -> [PastFile] {
        let text = PastFile(
            name: record.stem.fileName, path: .version(record.token), size: record.size,
            at: record.at)
        guard record.mayHaveAssets else { return [text] }
        let assets = try store.moments.assets(ofVersion: record.token).map {
            PastFile(
                name: $0.fileName(record.stem),
                path: .pastAsset(version: record.token, $0.field, index: $0.index ?? -1),
                size: $0.size, at: record.at)
        }
        return [text] + assets
    }

    private func entry(of file: PastFile, isCacheable: Bool) -> NodeEntry {
        var attributes = modes.file(.none, size: file.size, modified: file.at, 0o444)
        attributes.inode = file.path.inode
        // Only a number that is computed needs no place in the table of nodes.
        let number = file.path.arithmeticNumber
        return NodeEntry(
            node: number ?? .none, attributes: attributes,
            isCacheable: isCacheable && number != nil)
    }

    /// Returns a large field of a version, with the time of the version.
    func asset(
        _ version: Int64, _ field: FieldName, _ index: Int
    ) throws(RecordError) -> (asset: PastAsset, at: Timestamp)? {
        guard let (entry, _) = try store.past.versionEntry(version),
            let asset = try store.moments.assets(ofVersion: version).first(where: {
                $0.field == field && ($0.index ?? -1) == index
            })
        else { return nil }
        return (asset, entry.at)
    }

    /// Returns the bytes of a large field of a version.
    ///
    /// - Throws: unavailable for bytes that were never here, or have left the cache.
    func content(
        _ version: Int64, _ field: FieldName, _ index: Int
    ) throws(RecordError) -> GeneratedContent? {
        guard let (asset, at) = try asset(version, field, index) else { return nil }
        guard let hash = asset.hash else {
            return try store.moments.longValue(field, ofVersion: version).map {
                GeneratedContent($0, modified: at)
            }
        }
        guard store.assets.sizeOfAsset(hash) == asset.size else {
            throw RecordError(
                .unavailable, "the bytes that the field had then are not on this machine")
        }
        try store.assets.checkAsset(hash, size: asset.size)
        let file = try HostFile(path: Array(store.assets.assetPath(hash).utf8), flags: O_RDONLY)
        return GeneratedContent(file, size: asset.size, modified: at)
    }
}

/// A file in a TYPE directory of a moment.
struct PastFile {
    let name: [UInt8]
    let path: ControlPath
    let size: Int64
    let at: Timestamp
}

/// The place of a reader in a TYPE directory of a moment.
struct PastCursor {
    /// The name after which the records follow that were not read yet. Nil at the end.
    var after: RecordName? = RecordName(bytes: [])
    /// The files that were read ahead, from `position` on.
    var waiting: ArraySlice<PastFile> = []
    var position: UInt64 = 0
}
