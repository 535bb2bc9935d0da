import Glibc
import RecordModel
import RecordStore

extension Tree {
    func controlAttributes(_ path: ControlPath) throws(RecordError) -> Attributes? {
        let number = inode(of: .control(path))
        switch path.shape {
        case .directory:
            var attributes = directory(number, modified: mounted)
            attributes.mode = UInt32(S_IFDIR) | 0o755
            return attributes
        case .file(let mode):
            guard let size = try controlSize(path) else { return nil }
            return file(number, size: size, modified: now, mode)
        case .symlink:
            var attributes = file(number, size: 0, modified: mounted, 0o777)
            attributes.mode = UInt32(S_IFLNK) | 0o777
            return attributes
        }
    }

    /// The size of a file whose content is at hand; 0 for streams and for exports, which are read
    /// to their end like files of /proc.
    private func controlSize(_ path: ControlPath) throws(RecordError) -> Int64? {
        switch path {
        case .events, .ctl, .export, .metrics: 0
        default: try controlText(path).map { Int64($0.count) }
        }
    }

    func controlText(_ path: ControlPath) throws(RecordError) -> [UInt8]? {
        switch path {
        case .status: return try statusText()
        case .metrics: return try metricsText()
        case .error(let record):
            return try store.draft(of: record).map { Array(Self.report($0).utf8) }
        case .schema(let isProduction):
            return isProduction ? SchemaText.print([]) : try developmentSchema()
        case .meta(let record): return try metaText(record)
        case .version(let token): return try store.version(token)?.text
        case .trashed(let id): return try store.trashed(id)?.text
        default: return nil
        }
    }

    private func developmentSchema() throws(RecordError) -> [UInt8] {
        var types: [(RecordTypeName, RecordSchema)] = []
        for type in try store.schemaTypes() { types.append((type, try store.schema(of: type))) }
        return SchemaText.print(types)
    }

    func openControl(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        if flags & O_ACCMODE != O_RDONLY { return try openCommand(path, flags: flags) }
        let backing: OpenHandle.Backing
        switch path {
        case .events: backing = .events(events.open())
        case .export(let type, let format): backing = .content(try exportFile(type, format))
        case .ctl: backing = .bytes([])
        default:
            guard let text = try controlText(path) else {
                throw RecordError(.stale, "it is gone")
            }
            backing = .bytes(text)
        }
        return Opened(handle: addHandle(backing, flags: flags), isDirect: true)
    }

    private func openCommand(_ path: ControlPath, flags: Int32) throws(RecordError) -> Opened {
        guard controlTakesText(path) else {
            throw RecordError(.notPermitted, "the file is generated")
        }
        try checkWritable()
        let keeps = flags & O_TRUNC == 0
        let text = try keeps ? controlText(path) ?? [] : []
        let buffer = CommandBuffer(path: path, text: text)
        return Opened(handle: addHandle(.command(buffer), flags: flags), isDirect: true)
    }

    func controlTakesText(_ path: ControlPath) -> Bool {
        switch path {
        case .ctl, .schema(isProduction: false): true
        default: false
        }
    }

    func makeControlDirectory(_ name: [UInt8], in path: ControlPath) throws(RecordError) -> Node {
        throw RecordError(
            .notPermitted, "directories below .recordfs are there when they are named")
    }

    /// `rm .recordfs/errors/FILE` drops the draft. Everything else is history.
    func removeControl(_ name: [UInt8], in path: ControlPath) throws(RecordError) {
        guard let target = try findControl(name, in: path) else {
            throw RecordError(.notFound, "no such file")
        }
        guard case .control(.error(let record)) = target else {
            throw RecordError(.notPermitted, "this cannot be removed")
        }
        try checkWritable()
        try store.write(author: .mount) { transaction throws(RecordError) in
            _ = try transaction.discardDraft(record)
        }
    }

    /// `mv .recordfs/trash/.../NAME.json DIRECTORY/` brings a deleted record back.
    func restore(_ name: [UInt8], in path: ControlPath, to target: NameMeaning)
        throws(RecordError)
    {
        guard case .control(.trashed(let id))? = try findControl(name, in: path),
            case .record(let type, let stem) = target, let trashed = try store.trashed(id)
        else {
            throw RecordError(.crossDevice, "only deleted records are moved out of .recordfs")
        }
        let place = try place(of: type)
        guard trashed.entry.stem == stem, trashed.entry.type == place.type,
            trashed.entry.zone == place.zone.id
        else {
            throw RecordError(.crossDevice, "a deleted record comes back where it was")
        }
        try checkWritable(type)
        try store.write(author: .restore) { transaction throws(RecordError) in
            _ = try transaction.restore(id)
        }
    }

    /// An export is written whole at open, so that its reader sees one point in time.
    private func exportFile(_ type: TypeID, _ format: TransferFormat)
        throws(RecordError) -> HostFile
    {
        let file = try temporaryFile([])
        var offset: Int64 = 0
        var export = RecordExport(
            format: format, schema: try store.schema(of: place(of: type).type)
        ) { (chunk: [UInt8]) throws(RecordError) in
            try file.append(chunk, at: offset)
            offset += Int64(chunk.count)
        }
        _ = try export.export(type, of: store)
        return file
    }
}

extension HostFile {
    func append(_ bytes: [UInt8], at offset: Int64) throws(RecordError) {
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) { try write(buffer, offset: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
