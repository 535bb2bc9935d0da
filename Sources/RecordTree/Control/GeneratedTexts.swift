import RecordModel
import RecordStore

/// The contents of generated files, and their times.
extension ControlTexts {
    /// Returns the current content of a generated file. Returns nil when its subject no longer
    /// exists.
    func content(_ path: ControlPath) throws(RecordError) -> GeneratedContent? {
        switch path {
        case .status: return keep(path, try statusText())
        case .metrics: return keep(path, try metricsText())
        case .schema(let isProduction):
            return keep(path, isProduction ? SchemaText.print([]) : try developmentSchema())
        case .error(let record):
            return try store.refusal(of: record).map {
                GeneratedContent(Array(ErrorReports.text($0).utf8), modified: $0.since)
            }
        case .meta(let record):
            guard let meta = try store.meta(of: record) else { return nil }
            return GeneratedContent(try metaText(meta), modified: meta.modified)
        case .version(let token):
            return try store.past.version(token).map { GeneratedContent($0.text, modified: $0.at) }
        case .pastAsset(let version, let field, let index):
            return try moments.content(version, field, index)
        case .trashed(let id):
            return try store.past.trashed(id).map {
                GeneratedContent($0.text, modified: $0.entry.deleted)
            }
        case .typeSchema(let zone, let type):
            return try modelFiles.schema(of: type, in: zone).map { keep(path, $0) }
        case .raw(let record):
            return try store.model.serverText(of: record).map {
                GeneratedContent($0.text, modified: $0.modified)
            }
        case .modelText:
            return store.model.text.map { GeneratedContent($0.bytes, modified: $0.attached) }
        case .conflictFile(let conflict, let file): return try conflicts.content(conflict, file)
        case .export(let type, let format): return try exported(path, type, format)
        default: return nil
        }
    }

    private func keep(_ path: ControlPath, _ text: [UInt8]) -> GeneratedContent {
        kept.keep(path, text, now: options.now)
    }

    private func developmentSchema() throws(RecordError) -> [UInt8] {
        var types: [(RecordTypeName, RecordSchema)] = []
        for type in try store.schemaTypes() { types.append((type, try store.schema(of: type))) }
        return SchemaText.print(types)
    }

    /// Returns an export. It is kept in an unnamed file as long as its type does not change.
    private func exported(_ path: ControlPath, _ type: TypeID, _ format: TransferFormat)
        throws(RecordError) -> GeneratedContent?
    {
        guard let info = try store.type(type) else { return nil }
        // Read before the records: a change in between makes the stamp old, but never the text.
        let stamp = try store.changeStamp(of: type)
        if let last = kept.export(path, stamp) { return last }
        let content = try makeExport(info, format)
        kept.keep(path, stamp, content)
        return content
    }

    private func makeExport(_ type: TypeInfo, _ format: TransferFormat)
        throws(RecordError) -> GeneratedContent
    {
        let file = try workingFiles.temporaryFile([])
        var offset: Int64 = 0
        var pending: [UInt8] = []
        func write() throws(RecordError) {
            try file.append(pending, at: offset)
            offset += Int64(pending.count)
            pending.removeAll(keepingCapacity: true)
        }
        var export = RecordExport(format: format, schema: try store.schema(of: type.name)) {
            (chunk: [UInt8]) throws(RecordError) in
            pending += chunk
            if pending.count >= 1 << 18 { try write() }
        }
        _ = try export.export(type.id, of: store)
        try write()
        return GeneratedContent(
            file, size: offset, modified: export.lastChange ?? type.modified)
    }
}

extension HostFile {
    fileprivate func append(_ bytes: [UInt8], at offset: Int64) throws(RecordError) {
        var failure: RecordError?
        bytes.withUnsafeBytes { buffer in
            do throws(RecordError) { try write(buffer, offset: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}
