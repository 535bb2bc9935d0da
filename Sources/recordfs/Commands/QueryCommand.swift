import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct QueryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query", abstract: "Find records by their fields.",
        discussion: """
            Conditions are separated by commas: servings>=4,cuisine=thai,title~soup. Operators: \
            = != < <= > >= ~ (contains) ^= (begins with); a field alone: has a value; sort:FIELD \
            and sort:-FIELD set the order. Paths are relative when the working directory is on a \
            mount of the store.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one a line, with their names as $name.")
    var json = false
    @Flag(name: .customShort("0"), help: "End each path with NUL, for xargs -0.")
    var endsWithNull = false
    @Argument(help: "The record type, DATABASE/ZONE/TYPE.")
    var path: PathArgument
    @Argument(help: "The conditions.")
    var expression: String

    func run() throws {
        let place = try path.located(by: state)
        let target = place.path
        let store = try place.store.reader()
        let found = try place.reporting { () throws(RecordError) in
            let type = try store.type(at: target)
            let query = try QueryExpression(
                parsing: Array(expression.utf8), schema: try store.schema(of: type.name))
            return try store.query(type.id, query)
        }
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

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find records that contain words.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one a line, with their names as $name.")
    var json = false
    @Flag(name: .customShort("0"), help: "End each path with NUL, for xargs -0.")
    var endsWithNull = false
    @Argument(help: "The zone, DATABASE/ZONE, or a record type of it.")
    var path: PathArgument
    @Argument(help: "The words, all of which a record must contain.")
    var words: [String]

    func run() throws {
        let text = Array(words.joined(separator: " ").utf8)
        let place = try path.located(by: state)
        let reply = try place.store.perform(.search(place.path, words: text), about: path.text)
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
