import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the versions of a record, or print one.")

    @OptionGroup var state: StateOptions
    @Flag(help: "One JSON object for each version.")
    var json = false
    @Option(help: ArgumentHelp("Print the text of this version.", valueName: "token"))
    var show: Int64?
    @Argument(help: "The record, also one that was deleted.")
    var path: PathArgument

    func run() throws {
        let target = try path.resolved()
        let store = try state.reader()
        let versions = try reporting(path.text) { () throws(RecordError) in
            try Self.versions(of: target, in: store)
        }
        if let show {
            try printVersion(show, of: versions, in: store)
        } else if json {
            for version in versions { Showing.jsonLine(Self.json(version)) }
        } else {
            let rows = versions.map {
                [
                    "\($0.token)", Showing.time($0.at), $0.author.rawValue, $0.kind.rawValue,
                    Showing.size($0.size),
                ]
            }
            Terminal.printTable(
                [["TOKEN", "TIME", "AUTHOR", "CHANGE", "SIZE"]] + rows, rightAligned: [0])
        }
    }

    private static func versions(
        of path: RecordPath, in store: RecordStore
    ) throws(RecordError) -> [Version] {
        let zone = try store.keptZone(at: path)
        guard let stem = path.stem, let type = path.type else {
            throw RecordError(.isDirectory, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        var name = stem.decoded ?? RecordName(bytes: stem.bytes)
        if let info = try store.type(zone.id, type), let entry = try store.record(info.id, stem),
            let meta = try store.meta(of: entry.id)
        {
            name = meta.name
        }
        let versions = try store.history(of: name, in: zone.id)
        if versions.isEmpty {
            throw RecordError(.notFound, "this machine has seen no version of it.")
        }
        return versions
    }

    private func printVersion(
        _ token: Int64, of versions: [Version], in store: RecordStore
    ) throws(CommandFailure) {
        try reporting(path.text) { () throws(RecordError) in
            guard versions.contains(where: { $0.token == token }),
                let version = try store.version(token)
            else {
                throw RecordError(.notFound, "it has no version \(token).")
            }
            Terminal.print(version.text)
        }
    }

    private static func json(_ version: Version) -> JSONValue {
        .members([
            "token": .integer(version.token), "at": .text(Showing.time(version.at)),
            "author": .text(version.author.rawValue), "change": .text(version.kind.rawValue),
            "type": .name(version.type), "name": .name(version.name),
            "size": .integer(version.size),
        ])
    }
}
