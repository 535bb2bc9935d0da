package import RecordModel
package import RecordStore

/// Writes a store, a database, a zone or a type as the files that a mount shows, large fields
/// included, so that an import of them makes the same tree.
package struct TreeExport {
    package struct Counts: Sendable {
        package var records = 0
        package var files = 0
        /// The paths of large fields whose content is not on this machine.
        package var missing: [String] = []
    }

    /// The schema of all types, beside the databases.
    static let schemaName = "schema.ckdb"
    /// The file in a directory of a type with the names of those records whose file names do not
    /// show them.
    static let namesName = ".names.json"

    private let store: RecordStore
    private let output: any TreeOutput
    private let onProgress: (Int) -> Void
    private var counts = Counts()

    /// Prepares the export.
    ///
    /// - Parameter target: a directory, a file that ends in `.tar`, or `-` for a tar archive on
    ///   standard output.
    /// Errors: `notEmpty`, `accessDenied`, `noSpace`, `ioFailure`.
    package init(
        _ store: RecordStore, to target: String, onProgress: @escaping (Int) -> Void = { _ in }
    ) throws(RecordError) {
        self.store = store
        self.onProgress = onProgress
        let isArchive = target == "-" || target.hasSuffix(".tar")
        let compressed = [".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".zip"]
        if !isArchive, compressed.contains(where: target.hasSuffix) {
            throw RecordError(
                .invalidArgument,
                "is written as .tar. Compress it with a pipe: recordfs export --all - | zstd > "
                    + "FILE.tar.zst")
        }
        output = isArchive ? try TarWriting(path: target) : try DirectoryWriting(path: target)
    }

    /// Writes everything at or below a path. The root is everything. Each type is written in the
    /// state of one moment.
    ///
    /// Errors: `notFound` when there is nothing at the path; those of the files and the store.
    package mutating func export(_ path: RecordPath) throws(RecordError) -> Counts {
        guard path.item == nil else {
            throw RecordError(.invalidArgument, "is a record. Name a type, a zone or a database.")
        }
        let zones = try zones(at: path)
        var types: Set<RecordTypeName> = []
        for zone in zones { types.formUnion(try store.types(in: zone.id).map(\.name)) }
        try writeSchema(of: types)
        var made: Set<[UInt8]> = []
        for zone in zones {
            let place = RecordPath(database: zone.database, owner: zone.owner, zone: zone.name)
            try makeDirectories(place.bytes, &made)
            for type in try store.types(in: zone.id)
            where path.type == nil || path.type == type.name {
                try export(type, zone)
            }
        }
        try output.finish()
        return counts
    }

    private func zones(at path: RecordPath) throws(RecordError) -> [ZoneInfo] {
        if path.type != nil { _ = try store.type(at: path) }
        if path.zone != nil { return [try store.zone(at: path)] }
        var zones: [ZoneInfo] = []
        for database in Database.allCases where path.database == nil || path.database == database {
            zones += try store.zones(in: database).filter {
                path.owner == .me || $0.owner == path.owner
            }
        }
        return zones
    }

    private func writeSchema(of types: Set<RecordTypeName>) throws(RecordError) {
        var schemas: [(RecordTypeName, RecordSchema)] = []
        for type in types.sorted(by: { $0.bytes.lexicographicallyPrecedes($1.bytes) }) {
            schemas.append((type, try store.schema(of: type)))
        }
        guard !schemas.isEmpty else { return }
        try output.file(
            Array(Self.schemaName.utf8), SchemaText.print(schemas), store.options.clock.now)
    }

    private func makeDirectories(_ path: [UInt8], _ made: inout Set<[UInt8]>) throws(RecordError) {
        var parent: [UInt8] = []
        for part in path.split(separator: UInt8(ascii: "/")) {
            parent += parent.isEmpty ? Array(part) : [UInt8(ascii: "/")] + part
            if made.insert(parent).inserted { try output.directory(parent) }
        }
    }

    private mutating func export(_ type: TypeInfo, _ zone: ZoneInfo) throws(RecordError) {
        let directory = RecordPath(
            database: zone.database, owner: zone.owner, zone: zone.name, type: type.name)
        try output.directory(directory.bytes)
        var writer = self
        var names: [JSONMember] = []
        try store.withNamedRecords(in: type.id) { (entry, name, text) throws(RecordError) in
            let path = directory.appending(entry.stem).bytes
            try writer.output.file(path, text, entry.modified)
            if entry.stem.decoded != name {
                names.append(
                    JSONMember(
                        key: Text(utf8: entry.stem.bytes), value: .string(Text(utf8: name.bytes))))
            }
            if entry.hasAssets { try writer.exportAssets(of: entry, directory.bytes) }
            writer.counts.records += 1
            if writer.counts.records % 200 == 0 { writer.onProgress(writer.counts.records) }
        }
        if !names.isEmpty {
            try output.file(
                directory.bytes + Array("/\(Self.namesName)".utf8),
                JSONValue.object(names).serialized(pretty: true) + [0x0A], type.modified)
        }
        self = writer
    }

    private mutating func exportAssets(
        of entry: RecordEntry, _ directory: [UInt8]
    ) throws(RecordError) {
        for asset in try store.assets.assets(of: entry.id) where asset.kind == .file {
            guard let hash = asset.hash else { continue }
            let path = directory + [UInt8(ascii: "/")] + asset.fileName
            guard asset.isDownloaded, let size = store.assets.sizeOfAsset(hash) else {
                counts.missing.append(String(decoding: path, as: UTF8.self))
                continue
            }
            try output.file(
                path, copyOf: store.assets.assetPath(hash), size: Int(clamping: size),
                asset.modified)
            counts.files += 1
        }
    }
}
