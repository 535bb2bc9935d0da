import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct CheckTextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say whether texts would be accepted as records.",
        discussion: """
            It prints FILE:LINE:COLUMN: error: MESSAGE, as compilers do, so that editors jump to the \
            place: in vim, :set makeprg=recordfs\\ check\\ % and :make. Names that are new to the \
            record type and look like one that it has are warnings. Nothing is saved. The status is \
            1 when an error was found.

            A file that is not on a mount needs --type.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help: ArgumentHelp(
            "The record type of the files: DATABASE/ZONE/TYPE, or its directory on a mount.",
            valueName: "type"))
    var type: PathArgument?
    @Argument(help: "Records, their files, or with --type any files; - is standard input.")
    var files: [String]

    func run() throws {
        var hasErrors = false
        for file in files {
            for problem in try problems(of: file) {
                Terminal.print(problem.line)
                Terminal.print(Array(problem.excerpt.utf8))
                if !problem.isWarning { hasErrors = true }
            }
        }
        if hasErrors { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    private func problems(of file: String) throws -> [TextProblem] {
        let (place, path, text) = try subject(file)
        do {
            let reply = try place.store.write { writer in
                try writer.perform(.edit(.check(path, text: text)))
            }
            return (reply.result["warnings"]?.array ?? []).map {
                TextProblem(file, text, RecordError(json: $0), isWarning: true)
            }
        } catch let error as RecordError {
            guard error.isAboutContent else { throw CommandFailure(file, error) }
            return [TextProblem(file, text, error)]
        }
    }

    /// Returns the place of a file, the record that it would be, and its text.
    private func subject(
        _ file: String
    ) throws -> (place: LocatedPath, path: RecordPath, text: [UInt8]) {
        guard let type else {
            let place = try PathArgument(argument: file).located(by: state)
            let store = try place.store.reader()
            let text = try place.reporting { () throws(RecordError) in
                if place.isFile { return try readWholeFile(file) }
                let entry = try store.record(at: place.path)
                return try store.text(of: entry.id) ?? []
            }
            return (place, place.path, text)
        }
        let place = try type.located(by: state)
        let text = try reporting(file) { () throws(RecordError) in try readWholeFile(file) }
        return (place, place.path.appending(Self.stem(of: file)), text)
    }

    /// Returns the name of the record that a file would be.
    private static func stem(of file: String) -> Stem {
        let name = Array((file.split(separator: "/").last ?? "-").utf8)
        if case .record(let stem) = EntryName(classifying: name), stem.decoded != nil {
            return stem
        }
        return Stem(encoding: RecordName(bytes: name))
    }
}
