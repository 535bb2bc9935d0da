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
        for entry in found {
            if json {
                try reporting(path.text) { () throws(RecordError) in
                    try FoundRecords.showFields(of: entry, in: store)
                }
            } else {
                Terminal.print(target.directory.appending(entry.stem).bytes + [0x0A])
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
    @Argument(help: "The zone, DATABASE/ZONE, or a record type of it.")
    var path: PathArgument
    @Argument(help: "The words, all of which a record must contain.")
    var words: [String]

    func run() throws {
        let text = Array(words.joined(separator: " ").utf8)
        let reply = try state.perform(
            .search(try path.resolved(), words: text), about: path.text)
        guard json else {
            Terminal.print(reply.body)
            return
        }
        let store = try state.reader()
        for line in reply.body.split(separator: UInt8(ascii: "\n")) {
            try reporting(path.text) { () throws(RecordError) in
                let entry = try store.record(at: try RecordPath(parsing: Array(line)))
                try FoundRecords.showFields(of: entry, in: store)
            }
        }
    }
}

/// Prints records that a query or a search found.
enum FoundRecords {
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
