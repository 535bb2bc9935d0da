import RecordControl
import RecordModel
import RecordStore

/// Shows entries of the log.
struct LogListing {
    let store: RecordStore
    let spelling: PathSpelling

    /// Returns the columns of an entry: its token, its time, its program, and what it has done.
    ///
    /// - Parameter withName: shows its name instead of its token, where it has one.
    func cells(_ entry: LogEntry, withName: Bool = false) throws(RecordError) -> [String] {
        let token = entry.token.map { "@\($0)" } ?? "-"
        let name = withName ? entry.gesture?.name.map { "@\($0)" } : nil
        return [
            Colour.token.of(name ?? token), Showing.localTime(entry.at), program(entry),
            (entry.isUndone ? "(undone) " : "") + (isForeign(entry) ? "(elsewhere) " : "")
                + (try what(entry)),
        ]
    }

    private func isForeign(_ entry: LogEntry) -> Bool { entry.gesture?.origin != nil }

    func json(_ entry: LogEntry) throws(RecordError) -> JSONValue {
        var records: [JSONValue] = []
        for change in entry.changes {
            records.append(
                .members([
                    "path": .text(try store.path(of: change.place).bytes),
                    "token": change.token.map { .integer($0) } ?? .null,
                    "change": .text(change.kind.rawValue),
                    "fields": .array(fields(of: change).map { .name($0) }),
                ]))
        }
        return .members([
            "token": entry.token.map { .integer($0) } ?? .null,
            "id": (entry.gesture?.name).map { .text($0.text) } ?? .null,
            "time": .text(Showing.time(entry.at)), "author": .text(entry.shownAuthor),
            "origin": .text(entry.author.rawValue),
            "program": (entry.gesture?.tool).map { .text($0) } ?? .null,
            "undone": .bool(entry.isUndone), "undo": .bool(entry.isUndo),
            "made": .integer(entry.counts.made), "changed": .integer(entry.counts.changed),
            "removed": .integer(entry.counts.removed), "records": .array(records),
        ])
    }

    /// Shows what an entry has changed, record by record.
    func show(_ entry: LogEntry, _ form: DifferenceForm) throws(RecordError) {
        let listing = DifferenceListing(store: store, form: form)
        // One record may have several versions in it: the first and the last one count.
        let first = Dictionary(
            entry.changes.map { ($0.place, $0.token) }, uniquingKeysWith: { $1 })
        var shown: Set<RecordPlace> = []
        for change in entry.changes where shown.insert(change.place).inserted {
            let before = try store.past.versionBefore(
                first[change.place] ?? nil, of: change.place)
            let isGone = change.kind == .deleted || change.kind == .waiting
            try listing.show(
                try spelled(change), from: before, to: isGone ? nil : change.token)
        }
    }

    private func program(_ entry: LogEntry) -> String {
        if entry.gesture?.reverts != nil { return entry.isUndo ? "undo" : "redo" }
        return entry.program?.text ?? entry.gesture?.tool?.onOneLine ?? entry.author.rawValue
    }

    private func what(_ entry: LogEntry) throws(RecordError) -> String {
        let counts = entry.counts
        if counts.all == 1, let change = entry.changes.first {
            let path = try spelled(change)
            switch change.kind {
            case .created: return "made \(path)"
            case .deleted, .waiting: return "removed \(path)"
            default:
                let names = fields(of: change).map(\.description)
                return "changed \(path)"
                    + (names.isEmpty ? "" : ": " + names.firstFew)
            }
        }
        let parts = [
            (counts.made, "made"), (counts.changed, "changed"), (counts.removed, "removed"),
        ].filter { $0.0 > 0 }.map { "\(Showing.grouped($0.0)) \($0.1)" }
        return parts.joined(separator: ", ") + (try commonPlace(entry).map { " in \($0)" } ?? "")
    }

    /// Returns the type or zone in which everything of an entry is.
    private func commonPlace(_ entry: LogEntry) throws(RecordError) -> String? {
        guard let first = entry.changes.first,
            entry.changes.allSatisfy({ $0.place.zone == first.place.zone })
        else { return nil }
        let path = try store.path(of: first.place)
        let isOneType = entry.changes.allSatisfy { $0.place.type == first.place.type }
        let place = RecordPath(
            database: path.database, owner: path.owner, zone: path.zone,
            type: isOneType ? path.type : nil)
        return String(decoding: spelling.spell(place.bytes), as: UTF8.self)
    }

    private func fields(of change: LogEntry.Change) -> [FieldName] {
        store.model.shownNames(of: change.fields, in: change.place.type)
    }

    private func spelled(_ change: LogEntry.Change) throws(RecordError) -> String {
        String(decoding: spelling.spell(try store.path(of: change.place).bytes), as: UTF8.self)
    }
}
