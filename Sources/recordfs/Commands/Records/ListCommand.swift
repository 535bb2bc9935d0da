import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List databases, zones, record types or records.")

    @OptionGroup var state: StateOptions
    @Flag(name: .short, help: "Also show the size and the time of the last change.")
    var long = false
    @Flag(help: "Print one JSON object for each entry.")
    var json = false
    @Argument(
        help: "What to list; by default the working directory on a mount, elsewhere the databases.")
    var path: PathArgument?

    private struct Entry {
        let name: String
        var size: Int64?
        var modified: Timestamp?
        var note = ""
    }

    func run() throws {
        let place = try (path ?? PathArgument(argument: "")).located(by: state)
        let target = place.path
        guard target.database != nil else {
            show(Database.allCases.map { Entry(name: "\($0.name)/") })
            return
        }
        let store = try place.store.reader()
        show(
            try place.reporting { () throws(RecordError) in
                try entries(at: target, in: store)
            })
    }

    private func entries(
        at path: RecordPath, in store: RecordStore
    ) throws(RecordError) -> [Entry] {
        if path.item != nil {
            return [Self.entry(of: try store.record(at: path))]
        }
        if path.type != nil {
            return try Self.records(of: try store.type(at: path), in: store)
        }
        if path.zone != nil {
            return try store.model.shownTypes(in: try store.zone(at: path).id).map {
                Entry(name: "\($0.name)/", modified: $0.modified)
            }
        }
        guard let database = path.database else { return [] }
        let zones = try store.zones(in: database)
        if database == .shared, path.owner == .me {
            let owners = Set(zones.map(\.owner)).map(\.fileName)
            return owners.map { Entry(name: String(decoding: $0, as: UTF8.self) + "/") }
        }
        return zones.filter { $0.owner == path.owner }.map {
            let name = String(decoding: NameCodec.encode($0.name.bytes), as: UTF8.self)
            return Entry(name: "\(name)/", modified: $0.modified)
        }
    }

    private static func entry(of record: RecordEntry) -> Entry {
        Entry(
            name: "\(record.stem).json", size: record.size, modified: record.modified,
            note: record.hasDraft ? "draft" : "")
    }

    private static func records(
        of type: TypeInfo, in store: RecordStore
    ) throws(RecordError) -> [Entry] {
        var entries: [Entry] = []
        var last = RecordID(0)
        while true {
            let page = try store.records(in: type.id, after: last, limit: 1000)
            guard let next = page.last?.id else { break }
            entries += page.filter { !$0.isAwaited }.map(entry(of:))
            last = next
        }
        var lastAsset = AssetID(0)
        while true {
            let page = try store.assets.assets(in: type.id, after: lastAsset, limit: 1000)
            guard let next = page.last?.id else { break }
            entries += page.map {
                Entry(
                    name: String(decoding: $0.fileName, as: UTF8.self), size: $0.size,
                    modified: $0.modified, note: $0.isDownloaded ? "" : "not here")
            }
            lastAsset = next
        }
        return entries
    }

    private func show(_ unsorted: [Entry]) {
        let entries = unsorted.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        if json {
            for entry in entries {
                Showing.jsonLine(
                    .members([
                        "name": .text(entry.name), "size": entry.size.map { .integer($0) },
                        "modified": entry.modified.map { .text(Showing.time($0)) },
                        "state": entry.note.isEmpty ? nil : .text(entry.note),
                    ]))
            }
        } else if long {
            Terminal.printTable(
                entries.map {
                    [
                        $0.size.map { String($0) } ?? "-",
                        $0.modified.map(Showing.time) ?? "-",
                        $0.note.isEmpty ? $0.name : "\($0.name)  (\($0.note))",
                    ]
                }, rightAligned: [0])
        } else {
            Terminal.print(entries.flatMap { Array($0.name.utf8) + [0x0A] })
        }
    }
}
