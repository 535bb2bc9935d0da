import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write records as JSON, NDJSON or CSV, or a whole tree as files.",
        discussion: """
            --all writes the files that a mount shows, with large fields, to a new directory, a \
            .tar archive, or an archive on standard output (-): the files of a type, a zone, a \
            database or, without a path, of the whole store. recordfs import --all makes the same \
            tree again.

            Each row has the name of the record's file as $name, so that recordfs import makes the \
            same files. A CSV cell holds text as it is and other values as JSON.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "json, ndjson or csv; by default the extension of the output, else json.")
    var format: TransferFormat?
    @Option(name: .shortAndLong, help: "Write to this file instead of standard output.")
    var output = "-"
    @Option(
        help: ArgumentHelp(
            "Write all files, large fields too, to this directory or .tar archive.",
            valueName: "target"), completion: .file())
    var all: String?
    @Flag(name: .shortAndLong, help: "Print no progress and no summary.")
    var quiet = false
    @Argument(help: "The record type, DATABASE/ZONE/TYPE; with --all also a zone or a database.")
    var path: PathArgument?

    func validate() throws {
        if all == nil, path == nil {
            throw ValidationError("Name a record type, DATABASE/ZONE/TYPE, or use --all TARGET.")
        }
        if all != nil, format != nil || output != "-" {
            throw ValidationError(
                "--all writes files as they are: --format and --output do not fit.")
        }
    }

    func run() throws {
        if let all { return try exportAll(to: all) }
        guard let path else { return }
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
            let count = try export.export(type.id, of: store) { display.show(rows: $0) }
            try file.finish()
            return count
        }
        display.finish("\(Showing.count(count, "record")) written to \(output)")
    }

    private func exportAll(to target: String) throws {
        let place = try path?.located(by: state)
        let access = try place?.store ?? state.access()
        let store = try access.reader()
        let display = ProgressDisplay(isQuiet: quiet || target == "-")
        let counts = try access.reporting(place?.text) { () throws(RecordError) in
            var export = try TreeExport(store, to: target) { display.show(rows: $0) }
            return try export.export(place?.path ?? RecordPath())
        }
        display.finish(
            "\(Showing.count(counts.records, "record")) and "
                + "\(Showing.count(counts.files, "large field")) written to \(target)")
        guard !counts.missing.isEmpty else { return }
        for path in counts.missing.prefix(10) {
            Terminal.error("\(path): its bytes are not on this machine, and are left out.")
        }
        throw CommandFailure(
            nil,
            "\(Showing.count(counts.missing.count, "large field")) left out. Fetch them with recordfs "
                + "pin, and export again.", status: ExitStatus.failure)
    }
}
