import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the versions of a record, or print one.",
        discussion: """
            With --server it lists what the record server keeps: the states of your own records \
            that a save or a removal on any machine has replaced, also from before this machine \
            knew of them, of one record, or of all in a type or zone. To bring one back: \
            recordfs history --server --show STATE PATH | recordfs put PATH
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each version.")
    var json = false
    @Flag(help: "List what the record server keeps.")
    var server = false
    @Option(
        help: ArgumentHelp(
            "Print the text of this version; with --server, of this state.", valueName: "token"))
    var show: String?
    @Argument(help: "The record, or a deleted record; with --server also a type or zone.")
    var path: PathArgument

    func validate() throws {
        guard let show, !server, Int64(show) == nil else { return }
        throw ValidationError("--show takes the number of a version, not \(show).")
    }

    func run() throws {
        let place = try path.located(by: state)
        if server {
            return try ServerHistoryListing(place: place, json: json).run(show: show)
        }
        let store = try place.store.reader()
        let versions = try place.reporting { () throws(RecordError) in
            let versions = try store.versions(at: place.path)
            if versions.isEmpty {
                throw RecordError(.notFound, "this machine has seen no version of it.")
            }
            return versions.map(store.model.named)
        }
        if let show = show.flatMap({ Int64($0) }) {
            try place.reporting { () throws(RecordError) in
                try Self.printVersion(show, of: versions, in: store)
            }
        } else if json {
            for version in versions { Showing.jsonLine(Self.json(version)) }
        } else {
            let rows = versions.map {
                [
                    "\($0.token)", Showing.time($0.at), $0.shownAuthor, $0.kind.rawValue,
                    Showing.size($0.size), $0.shownFields,
                ]
            }
            Terminal.printTable(
                [["TOKEN", "TIME", "AUTHOR", "CHANGE", "SIZE", "FIELDS"]] + rows, rightAligned: [0])
        }
    }

    private static func printVersion(
        _ token: Int64, of versions: [Version], in store: RecordStore
    ) throws(RecordError) {
        guard versions.contains(where: { $0.token == token }),
            let version = try store.past.version(token)
        else {
            throw RecordError(.notFound, "it has no version \(token).")
        }
        Terminal.print(version.text)
    }

    private static func json(_ version: Version) -> JSONValue {
        .object(
            [
                JSONMember(key: "token", value: .integer(version.token)),
                JSONMember(key: "time", value: .text(Showing.time(version.at))),
            ] + version.authorMembers + [
                JSONMember(key: "change", value: .text(version.kind.rawValue)),
                JSONMember(key: "type", value: .name(version.type)),
                JSONMember(key: "name", value: .name(version.name)),
                JSONMember(key: "size", value: .integer(version.size)),
            ] + version.changeMembers)
    }
}
