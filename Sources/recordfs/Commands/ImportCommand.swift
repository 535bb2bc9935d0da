import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordStore

extension TransferFormat: ExpressibleByArgument {}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Bring rows of JSON, NDJSON or CSV, or a directory of .json files, in as records.",
        discussion: """
            Rows that the store already has change nothing, so that an import can be run again. A \
            bad row is reported with its line and does not stop the others; the exit status is \
            then 1. A record is named by --name-field, else by $name, the key or the file name in \
            the source, else by the first of these fields that the first row has: \
            id, _id, uuid, identifier, key, code, alpha_3, alpha_2, alpha_4, slug, name; else \
            line-N.
            """)

    @OptionGroup var state: StateOptions
    @Option(help: "json, ndjson or csv; by the file's extension when not given.")
    var format: TransferFormat?
    @Option(help: ArgumentHelp("The member of a JSON file that has the rows.", valueName: "key"))
    var at: String?
    @Option(help: ArgumentHelp("The field whose value names the record.", valueName: "field"))
    var nameField: String?
    @Flag(help: "Stop at the first bad row; the rows before it stay.")
    var strict = false
    @Flag(help: "Go on where an interrupted import of the same file stopped.")
    var resume = false
    @Flag(name: .shortAndLong, help: "No progress and no summary.")
    var quiet = false
    @Argument(help: "The file or directory; - is standard input.", completion: .file())
    var source: String
    @Argument(help: "The record type, DATABASE/ZONE/TYPE; made when missing.")
    var path: PathArgument

    func run() throws {
        let target = try path.resolved()
        guard target.type != nil, target.item == nil else {
            throw CommandFailure(
                path.text, "is not a record type. Write DATABASE/ZONE/TYPE.",
                status: ExitStatus.usage)
        }
        let result = try state.write { writer in try bring(target, writer) }
        if result.failed > 0 { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    private func bring(_ target: RecordPath, _ writer: StoreWriter) throws -> ImportProgress {
        let rows = try reporting(source) { () throws(RecordError) in
            try ImportSource.open(
                source, format: format, at: at, schema: try schema(of: target, writer))
        }
        var options = Importer.Options(target: target)
        options.nameField = nameField
        options.isStrict = strict
        options.resumes = resume
        options.batchRows = writer.isDirect ? 2000 : 200
        options.checkpoint = ImportCheckpoint(
            stateDirectory: state.directory, source: Places.absolute(source), target: target)
        let display = ProgressDisplay(isQuiet: quiet)
        var importer = Importer(
            rows, options: options,
            perform: { (request) throws(RecordError) in try writer.perform(request) },
            onProblem: { display.note(Self.line(for: $0, in: source)) },
            onProgress: display.show)
        let result = try reporting(source) { () throws(RecordError) in try importer.run() }
        display.finish(result)
        return result
    }

    private func schema(
        of target: RecordPath, _ writer: StoreWriter
    ) throws(RecordError) -> RecordSchema {
        guard let type = target.type else { return .empty }
        switch writer {
        case .direct(let store): return try store.schema(of: type)
        case .daemon:
            return try RecordStore.openForReading(directory: state.directory).schema(of: type)
        }
    }

    /// `FILE:LINE: what`, as compilers write it.
    private static func line(for problem: ImportProblem, in source: String) -> String {
        if let file = problem.file { return "\(source)/\(file): \(problem.error)" }
        let name = source == "-" ? "standard input" : source
        guard let position = problem.error.position, position.line >= problem.line else {
            return "\(name):\(problem.line): \(problem.error.message)"
        }
        return "\(name):\(position.line):\(position.column): \(problem.error.message)"
    }
}
