import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the versions of a record, or print one.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each version.")
    var json = false
    @Option(help: ArgumentHelp("Print the text of this version.", valueName: "token"))
    var show: Int64?
    @Argument(help: "The record, or a deleted record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let store = try place.store.reader()
        let versions = try place.reporting { () throws(RecordError) in
            let versions = try store.versions(at: place.path)
            if versions.isEmpty {
                throw RecordError(.notFound, "this machine has seen no version of it.")
            }
            return versions.map(store.model.named)
        }
        if let show {
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
                JSONMember(key: "at", value: .text(Showing.time(version.at))),
            ] + version.authorMembers + [
                JSONMember(key: "change", value: .text(version.kind.rawValue)),
                JSONMember(key: "type", value: .name(version.type)),
                JSONMember(key: "name", value: .name(version.name)),
                JSONMember(key: "size", value: .integer(version.size)),
            ] + version.changeMembers)
    }
}
