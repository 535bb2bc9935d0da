import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Bring back a deleted record or an earlier version.")

    @OptionGroup var state: StateOptions
    @Flag(help: "List what the trash has of a zone or record type.")
    var list = false
    @Flag(help: "With --list: one JSON object for each record.")
    var json = false
    @Option(
        help: ArgumentHelp(
            "Make this version the present one; recordfs history lists them.", valueName: "token"))
    var token: Int64?
    @Argument(help: "The record; with --list, a zone or record type.")
    var path: PathArgument

    func run() throws {
        let target = try path.resolved()
        if list {
            try listTrash(target)
            return
        }
        guard target.stem != nil else {
            throw CommandFailure(
                path.text, "is not a record. Write DATABASE/ZONE/TYPE/NAME, or add --list.",
                status: ExitStatus.usage)
        }
        if let token { try checkVersion(token, of: target) }
        try state.perform(.restore(target, version: token), about: path.text)
    }

    private func checkVersion(_ token: Int64, of target: RecordPath) throws {
        let store = try state.reader()
        try reporting(path.text) { () throws(RecordError) in
            let zone = try store.keptZone(at: target)
            guard let row = try store.version(token), row.zone == zone.id, row.type == target.type
            else {
                throw RecordError(
                    .notFound, "it has no version \(token). recordfs history lists them.")
            }
        }
    }

    private func listTrash(_ target: RecordPath) throws {
        let store = try state.reader()
        let entries = try reporting(path.text) { () throws(RecordError) in
            try store.trash(in: try store.keptZone(at: target).id, type: target.type)
        }
        let zone = RecordPath(database: target.database, owner: target.owner, zone: target.zone)
        if json {
            for entry in entries {
                Showing.jsonLine(
                    .members([
                        "path": .text("\(zone)/\(entry.type)/\(entry.stem).json"),
                        "deleted": .text(Showing.time(entry.deleted)),
                        "author": .text(entry.author.rawValue), "size": .integer(entry.size),
                    ]))
            }
            return
        }
        Terminal.printTable(
            entries.map {
                [
                    Showing.time($0.deleted), $0.author.rawValue,
                    "\(zone)/\($0.type)/\($0.stem).json",
                ]
            })
    }
}
