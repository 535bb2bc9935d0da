import Glibc
package import RecordModel

/// Imports the tree of an export, large fields included.
package struct TreeImport {
    package struct Options: Sendable {
        /// The part of the tree that is imported. The root is everything.
        package var target = RecordPath()
        package var batchRows = 200
        package var isRehearsal = false
        package init() {}
    }

    private static let batchBytes = 16 << 20

    private let source: String
    private let options: Options
    private let perform: Importer.Perform
    private let onProblem: (ImportProblem) -> Void
    private let onProgress: (ImportProgress) -> Void
    private var progress = ImportProgress()
    private var schemas: [RecordTypeName: RecordSchema] = [:]

    /// Prepares the import.
    ///
    /// - Parameters:
    ///   - source: a directory.
    ///   - perform: sends a request to the store, or to the process that has it.
    package init(
        _ source: String, options: Options, perform: @escaping Importer.Perform,
        onProblem: @escaping (ImportProblem) -> Void,
        onProgress: @escaping (ImportProgress) -> Void = { _ in }
    ) {
        self.source = source
        self.options = options
        self.perform = perform
        self.onProblem = onProblem
        self.onProgress = onProgress
    }

    /// Unpacks an archive into a directory. Errors: as `TarReading`.
    package static func unpack(_ archive: String, into directory: String) throws(RecordError) {
        var reading = try TarReading(path: archive)
        try reading.unpack(into: directory)
    }

    /// Runs the import.
    ///
    /// Errors: `invalidArgument` when there is no tree of an export; those of the files and the
    /// store.
    package mutating func run() throws(RecordError) -> ImportProgress {
        let schema = "\(source)/\(TreeExport.schemaName)"
        if access(schema, F_OK) == 0 {
            for (type, fields) in try SchemaText.parse(try readWholeFile(schema)) {
                schemas[type] = fields
            }
        }
        var places: [RecordPath] = []
        for name in try Self.names(in: source)
        where Database(name: String(decoding: name, as: UTF8.self)) != nil {
            try find(name, depth: name.elementsEqual("shared".utf8) ? 4 : 3, &places)
        }
        guard !places.isEmpty else {
            throw RecordError(
                .invalidArgument,
                "it has none of the directories private, shared, public and local that an export "
                    + "with --all has.")
        }
        places.removeAll { $0.type == nil || !isWanted($0) }
        // First the records whose names are the names of their files. Records that needed another
        // name beside them then get that name again. For the same reason shorter names come before
        // the names that were made longer because of them.
        var later: [Int: [(place: RecordPath, stems: [Stem])]] = [:]
        for place in places {
            let stems = try stemsByNameLength(in: place)
            try bring(stems[0] ?? [], of: place)
            for (length, stems) in stems where length > 0 {
                later[length, default: []].append((place, stems))
            }
        }
        for (_, sameLength) in later.sorted(by: { $0.key < $1.key }) {
            for (place, stems) in sameLength { try bring(stems, of: place) }
        }
        for place in places where !options.isRehearsal { try bringLargeFields(place) }
        onProgress(progress)
        return progress
    }

    private func isWanted(_ path: RecordPath) -> Bool {
        let target = options.target
        return (target.database == nil || target.database == path.database)
            && (target.zone == nil || target.zone == path.zone && target.owner == path.owner)
            && (target.type == nil || target.type == path.type)
    }

    /// Finds the directories of types, and also those of zones without any.
    private func find(
        _ path: [UInt8], depth: Int, _ places: inout [RecordPath]
    ) throws(RecordError) {
        guard Self.isDirectory("\(source)/\(String(decoding: path, as: UTF8.self))") else { return }
        let parts = path.count(where: { $0 == UInt8(ascii: "/") }) + 1
        guard parts < depth else {
            places.append(try RecordPath(parsing: path))
            return
        }
        for name in try Self.names(in: "\(source)/\(String(decoding: path, as: UTF8.self))") {
            try find(path + [UInt8(ascii: "/")] + name, depth: depth, &places)
        }
    }

    /// Returns the records of a type, grouped by the lengths of their names in bytes when their
    /// file names do not show these names. All other records have the length 0.
    private func stemsByNameLength(
        in place: RecordPath
    ) throws(RecordError) -> [Int: [Stem]] {
        let directory = "\(source)/\(place.description)"
        let names = try Self.recordNames(in: directory)
        let stems = try Self.names(in: directory).compactMap { file in
            if case .record(let stem) = EntryName(classifying: file) { stem } else { nil }
        }
        return Dictionary(grouping: stems) { names[$0]?.bytes.count ?? 0 }
    }

    private mutating func bring(
        _ stems: [Stem], of place: RecordPath
    ) throws(RecordError) {
        let directory = "\(source)/\(place.description)"
        var batch = ImportBatch(target: place, rows: [])
        batch.isRehearsal = options.isRehearsal
        batch.fields =
            place.type.flatMap { schemas[$0] }?.fields.map { (name: $0.name, type: $0.type) } ?? []
        var texts: [String] = []
        var size = 0
        // An empty type is created, too.
        var isMade = false
        for stem in stems {
            let name = String(decoding: stem.fileName, as: UTF8.self)
            let text = try readWholeFile("\(directory)/\(name)")
            batch.rows.append(.init(stem: stem, text: text))
            texts.append("\(place)/\(name)")
            size += text.count
            guard batch.rows.count >= options.batchRows || size >= Self.batchBytes else { continue }
            try save(&batch, &texts)
            (size, isMade) = (0, true)
        }
        if !isMade || !batch.rows.isEmpty { try save(&batch, &texts) }
    }

    private mutating func bringLargeFields(_ place: RecordPath) throws(RecordError) {
        let directory = "\(source)/\(place.description)"
        for file in try Self.names(in: directory) { try bring(file, place, directory) }
    }

    private mutating func save(
        _ batch: inout ImportBatch, _ files: inout [String]
    ) throws(RecordError) {
        let reply = try perform(.importBatch(batch)).result
        progress.rows += batch.rows.count
        progress.created += Int(clamping: reply.integerMember("created") ?? 0)
        progress.updated += Int(clamping: reply.integerMember("updated") ?? 0)
        progress.unchanged += Int(clamping: reply.integerMember("unchanged") ?? 0)
        for problem in reply["errors"]?.array ?? [] {
            guard let row = problem.integerMember("row"), files.indices.contains(Int(row)),
                let error = problem["error"]
            else { continue }
            report(files[Int(row)], RecordError(json: error))
        }
        batch.rows.removeAll()
        files.removeAll()
        onProgress(progress)
    }

    private mutating func bring(
        _ file: [UInt8], _ place: RecordPath, _ directory: String
    ) throws(RecordError) {
        let meaning = EntryName(classifying: file)
        guard case .asset(let stem, let field, let index, let fileExtension) = meaning
        else { return }
        let path = RecordPath(
            database: place.database, owner: place.owner, zone: place.zone, type: place.type,
            item: .asset(
                stem: stem, field: field, index: index, fileExtension: fileExtension))
        let name = String(decoding: file, as: UTF8.self)
        do throws(RecordError) {
            _ = try perform(.putAsset(path, file: Self.absolute("\(directory)/\(name)")))
        } catch {
            report("\(place)/\(name)", error)
        }
    }

    private mutating func report(_ file: String, _ error: RecordError) {
        progress.failed += 1
        onProblem(ImportProblem(line: nil, number: progress.rows, file: file, error: error))
    }

    /// Returns the full names of those records whose file names do not show them.
    private static func recordNames(
        in directory: String
    ) throws(RecordError) -> [Stem: RecordName] {
        let path = "\(directory)/\(TreeExport.namesName)"
        guard access(path, F_OK) == 0 else { return [:] }
        var names: [Stem: RecordName] = [:]
        for member in try JSONParser.parse(try readWholeFile(path)).object ?? [] {
            guard let name = member.value.string else { continue }
            names[Stem(bytes: member.key.utf8)] = RecordName(bytes: name.utf8)
        }
        return names
    }

    private static func names(in directory: String) throws(RecordError) -> [[UInt8]] {
        try HostDirectory.names(in: directory).filter { $0.first != UInt8(ascii: ".") }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Returns an absolute path, because the process that has the store has another working
    /// directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }
}
