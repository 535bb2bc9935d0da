import ArgumentParser
import Foundation
import RecordControl
import RecordModel
import RecordStore

extension TransferFormat: ExpressibleByArgument {}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Import JSON, NDJSON or CSV rows, or a directory of .json files.",
        discussion: """
            All rows are read before the first is stored, because they determine the types of new \
            fields and the field that names the records. Keys that cannot be field names are \
            respelled (First name: First_name). Rows that the store already has change nothing, so \
            you can run an import again. A record keeps the fields that the source does not have. \
            A refused row is reported with its place and does not stop the others; the exit status \
            is then 1. After a CSV cell with unmatched quotes, nothing is imported.

            A record is named by --name-field, else by $name, the key or the file name in the \
            source, else by the first of these fields that is different in every row: id, _id, \
            uuid, identifier, key, code, alpha_3, alpha_2, alpha_4, slug, name; else it is named \
            row-HASH, from the content of the row.

            CSV is UTF-8, or has a byte order mark, and is separated by commas, semicolons, tabs \
            or bars. For other files, give --encoding and --delimiter.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Option(help: "json, ndjson or csv; by default the extension of the file.")
    var format: TransferFormat?
    @Option(help: ArgumentHelp("The member of a JSON file that has the rows.", valueName: "key"))
    var at: String?
    @Option(help: ArgumentHelp("The field whose value names the record.", valueName: "field"))
    var nameField: String?
    @Option(
        help: ArgumentHelp(
            "The encoding of the text, such as latin1, windows-1252 or utf-16.",
            valueName: "name"))
    var encoding: String?
    @Option(
        help: ArgumentHelp(
            "The separator of CSV cells: one character, or tab.", valueName: "character"))
    var delimiter: String?
    @Flag(help: "Show what would happen, and change nothing.")
    var dryRun = false
    @Flag(help: "Replace whole records: remove the fields that the source does not have.")
    var replace = false
    @Flag(help: "Stop at the first bad row; the rows before it stay.")
    var strict = false
    @Flag(help: "Continue where an interrupted import of the same file stopped.")
    var resume = false
    @Flag(
        help: "Import the directory or .tar archive of an export with --all, with large fields.")
    var all = false
    @Flag(name: .shortAndLong, help: "Print no progress and no summary.")
    var quiet = false
    @Argument(help: "The file or directory; - is standard input.", completion: .file())
    var source: String
    @Argument(
        help:
            "The record type, DATABASE/ZONE/TYPE; created if missing. With --all: what to import.")
    var path: PathArgument?

    private var shownSource: String { source == "-" ? "standard input" : source }

    func validate() throws {
        if !all, path == nil {
            throw ValidationError("Name the record type, DATABASE/ZONE/TYPE, or use --all.")
        }
    }

    func run() throws {
        if all {
            return try TreeImportRun(
                source: source, path: path, state: state, isRehearsal: dryRun, isQuiet: quiet
            ).run()
        }
        guard let path else { return }
        let place = try path.located(by: state)
        let target = place.path
        guard target.type != nil, target.item == nil else {
            throw CommandFailure(
                path.text, "is not a record type. Write DATABASE/ZONE/TYPE.",
                status: ExitStatus.usage)
        }
        // Before the store is opened, and so created: a file that cannot be read changes nothing.
        let options = try sourceOptions()
        let rows = try reporting(shownSource) { () throws(RecordError) in
            try ImportSource(source, options)
        }
        let result = try withWriter(of: place.store) { writer in try bring(rows, place, writer) }
        if result.failed > 0 { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    private func sourceOptions() throws -> ImportSource.Options {
        var options = ImportSource.Options()
        options.format = format
        options.key = at
        options.encoding = encoding
        if let delimiter {
            let bytes = delimiter.lowercased() == "tab" ? [0x09] : Array(delimiter.utf8)
            guard bytes.count == 1, bytes[0] != 0x22, bytes[0] != 0x0A, bytes[0] != 0x0D else {
                throw CommandFailure(
                    "--delimiter", "is one ASCII character, or tab.", status: ExitStatus.usage)
            }
            options.delimiter = bytes[0]
        }
        return options
    }

    /// Runs the body with the store. For a dry run without a store, uses an empty one that is
    /// removed afterwards.
    private func withWriter<T>(
        of store: StoreAccess, _ body: (StoreWriter) throws -> T
    ) throws -> T {
        guard dryRun, !FileManager.default.fileExists(atPath: store.directory) else {
            return try store.write(body)
        }
        let place = FileManager.default.temporaryDirectory.appending(
            path: "recordfs-dry-run-\(UUID().uuidString)")
        defer {
            do {
                try FileManager.default.removeItem(at: place)
            } catch {
                Terminal.error("recordfs: \(place.path): is left over, remove it.")
            }
        }
        return try StoreAccess(place.path).write(body)
    }

    private func bring(
        _ rows: ImportSource, _ place: LocatedPath, _ writer: StoreWriter
    ) throws -> ImportProgress {
        let target = place.path
        // The time of the survey counts too.
        let display = ProgressDisplay(isQuiet: quiet)
        let plan = try reporting(shownSource) { () throws(RecordError) in
            try rows.survey(schema: try schema(of: place, writer), nameField: nameField)
        }
        let problems = ImportProblems(
            source: shownSource, stateDirectory: place.store.directory, target: target)
        var failure: RecordError?
        let result = try reporting(shownSource) { () throws(RecordError) in
            var importer = try Importer(
                rows, plan: plan, options: options(place, writer),
                perform: { (request) throws(RecordError) in try writer.perform(request) },
                onProblem: { problem in
                    do throws(RecordError) {
                        try problems.add(problem)
                    } catch {
                        failure = error
                    }
                },
                onProgress: display.show)
            return try importer.run()
        }
        var report = ImportReport(
            source: shownSource, plan: plan, result: result, delimiter: rows.delimiter,
            skipped: rows.skipped)
        if dryRun {
            report.sample = try reporting(shownSource) { () throws(RecordError) in
                try Self.sample(of: rows, plan)
            }
        }
        display.clear()
        let file = try reporting { () throws(RecordError) in
            if let failure { throw failure }
            return try problems.finish()
        }
        report.printProblems(problems, file: file)
        if dryRun {
            report.printRehearsal()
        } else if !quiet {
            report.printNotes()
            display.finish(result, names: report.names)
        }
        return result
    }

    private static func sample(
        of source: ImportSource, _ plan: ImportPlan
    ) throws(RecordError) -> [String] {
        var rows = try source.rows(plan)
        var sample: [String] = []
        while sample.count < 3, let row = try rows.next() {
            guard case .fields(let members) = row.content else { continue }
            let fields = JSONValue.object(plan.naming.shown(members)).serialized()
            sample.append(String(decoding: fields, as: UTF8.self).onOneLine)
        }
        return sample
    }

    private func options(_ place: LocatedPath, _ writer: StoreWriter) -> Importer.Options {
        var options = Importer.Options(target: place.path)
        options.isStrict = strict
        options.replaces = replace
        options.isRehearsal = dryRun
        options.resumes = resume && !dryRun
        options.batchRows = writer.isDirect ? 2000 : 200
        if !dryRun {
            options.checkpoint = ImportCheckpoint(
                stateDirectory: place.store.directory, source: HostPaths.absolute(source),
                target: place.path)
        }
        return options
    }

    private func schema(
        of place: LocatedPath, _ writer: StoreWriter
    ) throws(RecordError) -> RecordSchema {
        guard let type = place.path.type else { return .empty }
        switch writer {
        case .direct(let store, _): return try store.schema(of: type)
        case .daemon:
            return try RecordStore.openForReading(directory: place.store.directory)
                .schema(of: type)
        }
    }
}
