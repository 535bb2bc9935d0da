import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the records of a type as JSON, NDJSON or CSV.",
        discussion: """
            Each row has the record name as $name, so that recordfs import makes the same records. \
            A name that another type of the zone has is NAME:TYPE, also after an import elsewhere. \
            A CSV cell holds text as it is and other values as JSON.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "json, ndjson or csv; by the output's extension when not given, else json.")
    var format: TransferFormat?
    @Option(name: .shortAndLong, help: "Write to this file, not to standard output.")
    var output = "-"
    @Flag(name: .shortAndLong, help: "No progress and no summary.")
    var quiet = false
    @Argument(help: "The record type, DATABASE/ZONE/TYPE.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let target = place.path
        let store = try place.store.reader()
        let display = ProgressDisplay(isQuiet: quiet || output == "-")
        let count = try place.reporting { () throws(RecordError) in
            let type = try store.type(at: target)
            let file = try FileWriting(path: output)
            var export = RecordExport(
                format: format ?? TransferFormat(path: output) ?? .json,
                schema: try store.schema(of: type.name)
            ) { (bytes) throws(RecordError) in
                try file.write(bytes)
            }
            let count = try export.export(type.id, of: store) { rows in
                var progress = ImportProgress()
                progress.rows = rows
                display.show(progress)
            }
            try file.finish()
            return count
        }
        display.finish("\(Showing.count(count, "record")) written to \(output)")
    }
}
