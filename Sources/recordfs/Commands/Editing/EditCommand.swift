import ArgumentParser
import Foundation
import Glibc
import RecordControl
import RecordModel
import RecordStore

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit records in your editor, also without a mount.",
        discussion: """
            It opens a copy of each record in $VISUAL, $EDITOR or vi, and saves it when the editor \
            ends. When the text is refused, the reason is printed and the editor opens again at the \
            line; leave the text as it is to give up. A text that is not saved is kept, and its \
            place is printed. Changes that others make meanwhile stay.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Argument(help: "The records, DATABASE/ZONE/TYPE/NAME, or their files on a mount.")
    var paths: [PathArgument]

    func run() throws {
        for path in paths { try edit(path.located(by: state)) }
    }

    private func edit(_ place: LocatedPath) throws {
        var session = try EditSession(place)
        try session.run()
    }
}

/// The editing of one record, from the text that its file shows to a text that is saved.
private struct EditSession {
    /// An editor that a program plays could go on for ever.
    private static let openings = 20

    private let place: LocatedPath
    private let folder: String
    private let file: String
    /// The text of the record from which the user's text is made.
    private var base: [UInt8]
    /// The text that the editor has shown last.
    private var last: [UInt8]

    init(_ place: LocatedPath) throws {
        self.place = place
        let (shown, saved) = try Self.texts(of: place)
        (last, base) = (shown, saved)
        var template = Array(
            "\(FileManager.default.temporaryDirectory.path)/recordfs-edit-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                nil, RecordError.systemCall("make a directory for the text", errno))
        }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let name = place.path.stem?.fileName ?? []
        file = "\(folder)/\(String(decoding: name, as: UTF8.self))"
        try reporting(file) { [shown, file] () throws(RecordError) in
            try writeWholeFile(shown, to: file)
        }
    }

    mutating func run() throws {
        var line: Int?
        for _ in 0..<Self.openings {
            do throws(CommandFailure) {
                try Editor().open(file, at: line)
            } catch {
                throw try kept(error)
            }
            let text = try reporting(file) { () throws(RecordError) in try readWholeFile(file) }
            guard text != last else {
                if line == nil {
                    Terminal.error("\(place.text): not changed")
                    return try remove()
                }
                throw CommandFailure(place.text, "not saved. Your text is in \(file).")
            }
            last = text
            do {
                try place.store.write { writer in
                    _ = try writer.perform(
                        .edit(.amend(place.path, text: text, since: base)))
                }
                return try remove()
            } catch let error as RecordError {
                line = try explain(error, text)
            }
        }
        throw CommandFailure(place.text, "not saved. Your text is in \(file).")
    }

    /// Tells why a text is not saved. Returns the line at which the editor opens again.
    ///
    /// Errors: the reason as a failure, when another text would not help.
    private mutating func explain(_ error: RecordError, _ text: [UInt8]) throws -> Int {
        if error.code == .stale {
            // The next save of the user is one over what is there now.
            base = try Self.texts(of: place).saved
            Terminal.error(
                "recordfs: \(place.text): \(error.message) It is now:\n"
                    + String(decoding: base, as: UTF8.self)
                    + "Save your text again, with a change, to put it in its place.")
            return 1
        }
        guard error.isAboutContent else { throw try kept(CommandFailure(place.text, error)) }
        let problem = TextProblem(file, text, error)
        Terminal.error(problem.line + "\n" + problem.excerpt)
        return error.position?.line ?? 1
    }

    /// Returns the failure with the place of the user's text, if it is another than the record's.
    private func kept(_ failure: CommandFailure) throws -> CommandFailure {
        let text = try reporting(file) { () throws(RecordError) in try readWholeFile(file) }
        guard text != base else {
            try remove()
            return failure
        }
        return CommandFailure(
            failure.subject, "\(failure.message) Your text is in \(file).", status: failure.status)
    }

    private func remove() throws { try FileManager.default.removeItem(atPath: folder) }

    /// Returns the text that the file of a record shows, and the text that is saved. The latter is
    /// empty when nothing was saved yet.
    private static func texts(
        of place: LocatedPath
    ) throws(CommandFailure) -> (shown: [UInt8], saved: [UInt8]) {
        let store = try place.store.reader()
        return try place.reporting { () throws(RecordError) in
            _ = try place.path.requireRecord()
            let entry = try store.record(at: place.path)
            return (try store.text(of: entry.id) ?? [], try store.savedText(of: entry.id) ?? [])
        }
    }
}
