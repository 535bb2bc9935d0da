import ArgumentParser
import RecordControl
import RecordModel
import RecordTree

struct ScratchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scratch",
        abstract: "List the files beside the records. They stay on this machine.",
        discussion: """
            If the name of a file in a record type is neither NAME.json nor the name of a large \
            field, the file is an ordinary file of this machine: it is never uploaded, and it is \
            not in the history or in an export. --problems shows the files whose names look like a \
            mistake.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "List only files that were perhaps meant to be records or large fields.")
    var problems = false
    @Flag(help: "Print one JSON object for each file.")
    var json = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let files = try access.reporting { () throws(RecordError) in
            try ScratchFile.all(in: store)
        }
        let shown = problems ? files.filter { $0.guess != nil } : files
        if json {
            for file in shown { Showing.jsonLine(file.json) }
            return
        }
        guard !shown.isEmpty else {
            Terminal.print(
                problems ? "No file beside the records looks like a mistake." : "No scratch files.")
            return
        }
        for file in shown { Terminal.print(file.line) }
    }
}

extension ScratchFile {
    private var name: String { String(decoding: path, as: UTF8.self) }

    fileprivate var line: String {
        var parts = [Showing.size(usage.bytes), Showing.time(modified)]
        if isDirectory { parts.insert(Showing.count(usage.files, "file"), at: 0) }
        if isTemporary { parts.append("temporary") }
        let note = guess.map { ": \($0)" } ?? ""
        return "\(name) (\(parts.joined(separator: ", ")))\(note)".onOneLine
    }

    fileprivate var json: JSONValue {
        .members([
            "path": .text(path), "isDirectory": .bool(isDirectory), "files": .integer(usage.files),
            "size": .integer(usage.bytes), "modified": .text(Showing.time(modified)),
            "isTemporary": .bool(isTemporary), "guess": guess.map { .text($0) } ?? .null,
        ])
    }
}
