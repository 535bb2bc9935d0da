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
            and sort:-FIELD set the order.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one a line, with their names as $name.")
    var json = false
    @Argument(help: "The record type, DATABASE/ZONE/TYPE.")
    var path: PathArgument
    @Argument(help: "The conditions.")
    var expression: String

    func run() throws {
        let target = try path.resolved()
        let store = try state.reader()
        let found = try reporting(path.text) { () throws(RecordError) in
            let type = try store.type(at: target)
            let query = try QueryExpression(
                parsing: Array(expression.utf8), schema: try store.schema(of: type.name))
            return try store.query(type.id, query)
        }
        try FoundRecords.show(found, in: store, json: json) { _ in target.directory }
    }
}

struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find records that contain words.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the records as JSON, one a line, with their names as $name.")
    var json = false
    @Argument(help: "The zone, DATABASE/ZONE.")
    var path: PathArgument
    @Argument(help: "The words, all of which a record must contain.")
    var words: [String]

    func run() throws {
        let target = try path.resolved()
        let store = try state.reader()
        let found = try reporting(path.text) { () throws(RecordError) in
            try store.search(
                try store.zone(at: target).id, words: words.joined(separator: " "))
        }
        try FoundRecords.show(found, in: store, json: json) { (entry) throws(RecordError) in
            RecordPath(
                database: target.database, owner: target.owner, zone: target.zone,
                type: try store.type(entry.type)?.name)
        }
    }
}

/// Prints records that a query or a search found: their paths, or their fields.
enum FoundRecords {
    static func show(
        _ entries: [RecordEntry], in store: RecordStore, json: Bool,
        directory: (RecordEntry) throws(RecordError) -> RecordPath
    ) throws(CommandFailure) {
        for entry in entries {
            try reporting { () throws(RecordError) in
                let path = try directory(entry).appending(entry.stem)
                guard json else {
                    Terminal.print(path.bytes + [0x0A])
                    return
                }
                guard let text = try store.savedText(of: entry.id) else { return }
                let name = entry.stem.decoded ?? RecordName(bytes: entry.stem.bytes)
                let members = try JSONParser.parse(text).object ?? []
                Showing.jsonLine(
                    .object(
                        [JSONMember(key: Text(RecordExport.nameMember), value: .name(name))]
                            + members))
            }
        }
    }
}
