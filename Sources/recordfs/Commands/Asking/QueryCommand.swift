import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Find records by their fields.",
        discussion: """
            Conditions are separated by commas: servings>=4,cuisine=thai,title~soup. Operators: = \
            != < <= > >= ~ (contains) ^= (begins with). A field alone: the field has a value. \
            sort:FIELD and sort:-FIELD set the order. One of several: cuisine=thai|indian, \
            n>4|vegan=1. Members of nested JSON: address.city=Bonn. Times: modified>2h (later than \
            two hours ago), created<2026-11-20. Paths are relative when the working directory is \
            on a mount of the store.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one per line, with their names as $name.")
    var json = false
    @Flag(name: .customShort("0"), help: "End each path with NUL, for xargs -0.")
    var endsWithNull = false
    @Option(help: "Print at most this many.")
    var limit: Int?
    @Flag(help: "Print only the number of records.")
    var count = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The field to sort by; - before it reverses the order; several with commas.",
            valueName: "field"))
    var sort: String?
    @Argument(help: "The record type, DATABASE/ZONE/TYPE.")
    var path: PathArgument
    @Argument(help: "The conditions; without any, all records.")
    var expression: String?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of records.") }
    }

    func run() throws {
        let place = try path.located(by: state)
        let target = place.path
        let store = try place.store.reader()
        let display = ProgressDisplay(isQuiet: false, firstAfter: .seconds(1))
        let text =
            (expression.map { [$0] } ?? []).filter { !$0.isEmpty }
            + (sort.map { $0.split(separator: ",").map { "sort:\($0)" } } ?? [])
        var looked = 0
        var found = try place.reporting { () throws(RecordError) in
            let type = try store.type(at: target)
            let query =
                text.isEmpty
                ? QueryExpression()
                : try QueryExpression(
                    parsing: Array(text.joined(separator: ",").utf8),
                    schema: try store.schema(of: type.name))
            return try store.index.query(type.id, query) { rows in
                looked = rows
                display.show(rows: rows)
            }
        }
        display.clear()
        // A mount makes an index for the next time. Without a mount, making it would take as long
        // as this query.
        if looked >= 5000 { wantIndex(place, text) }
        if count { return Terminal.print("\(found.count)") }
        if let limit { found = Array(found.prefix(limit)) }
        guard json else {
            FoundRecords.showPaths(
                found.map { target.directory.appending($0.stem).bytes }, of: place.store,
                endsWithNull)
            return
        }
        for entry in found {
            try place.reporting { () throws(RecordError) in
                try FoundRecords.showFields(of: entry, in: store)
            }
        }
    }
}

extension QueryCommand {
    private func wantIndex(_ place: LocatedPath, _ terms: [String]) {
        do throws(RecordError) {
            let daemon = try ControlClient.connect(
                directory: place.store.directory, timeoutSeconds: 2)
            let expression = Array(terms.joined(separator: ",").utf8)
            _ = try daemon?.perform(.wantIndexes(place.path.directory, expression: expression))
        } catch {
            // The answer is complete. The next one is only slower than it could be.
            return
        }
    }
}

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find records that contain words.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one per line, with their names as $name.")
    var json = false
    @Flag(name: .customShort("0"), help: "End each path with NUL, for xargs -0.")
    var endsWithNull = false
    @Argument(help: "The zone, DATABASE/ZONE, or a record type in it.")
    var path: PathArgument
    @Argument(help: "The words. A record must contain all of them.")
    var words: [String]

    func run() throws {
        let text = Array(words.joined(separator: " ").utf8)
        let place = try path.located(by: state)
        let reply = try place.store.perform(.search(place.path, words: text), about: path.text)
        if let left = reply.result.integerMember("unindexed"), left > 0 {
            Terminal.error(
                "note: the index of words is being built, \(Showing.count(Int(left), "change")) to go; "
                    + "until then a search takes longer.")
        }
        let lines = reply.body.split(separator: UInt8(ascii: "\n"))
        guard json else {
            FoundRecords.showPaths(lines.map(Array.init), of: place.store, endsWithNull)
            return
        }
        let store = try place.store.reader()
        for line in lines {
            try place.reporting { () throws(RecordError) in
                let entry = try store.record(at: try RecordPath(parsing: Array(line)))
                try FoundRecords.showFields(of: entry, in: store)
            }
        }
    }
}

/// Prints records that a query or a search found.
enum FoundRecords {
    static func showPaths(_ paths: [[UInt8]], of store: StoreAccess, _ endsWithNull: Bool) {
        let spelling = PathSpelling(for: store)
        Terminal.print(paths.flatMap { spelling.spell($0) + [endsWithNull ? 0 : 0x0A] })
    }

    static func showFields(
        of entry: RecordEntry, in store: RecordStore
    ) throws(RecordError) {
        guard let text = try store.savedText(of: entry.id) else { return }
        let name = entry.stem.decoded ?? RecordName(bytes: entry.stem.bytes)
        let members = try JSONParser.parse(text).object ?? []
        let named = JSONMember(key: Text(RecordExport.nameMember), value: .name(name))
        Showing.jsonLine(.object([named] + members))
    }
}
