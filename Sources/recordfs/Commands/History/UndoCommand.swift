import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct UndoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back what was done last.",
        discussion: """
            One undo takes back what one program did in one go: a save of an editor, one rm -r, one \
            sed -i over many files, one import. Called again, it goes further back; recordfs redo \
            goes forward. Only what was done on this machine is undone, and a value that somebody \
            has changed since stays. recordfs history shows what an undo has replaced.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @OptionGroup var options: UndoOptions
    @Argument(
        help: ArgumentHelp(
            "How many steps to take back (1), or @TOKEN: the step that has made this version.",
            valueName: "steps"))
    var steps: UndoSteps = .latest(1)

    func run() throws {
        let access = try state.access()
        try options.run(
            steps.choice(on: access) { .latest($0) }, on: access, done: "Undid")
    }
}

struct RedoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Do again what recordfs undo has taken back.")

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @OptionGroup var options: UndoOptions
    @Argument(
        help: ArgumentHelp(
            "How many undone steps to do again (1), or @TOKEN: a version that an undo has made.",
            valueName: "steps"))
    var steps: UndoSteps = .latest(1)

    func run() throws {
        let access = try state.access()
        try options.run(
            steps.choice(on: access) { .latestUndone($0) }, on: access, done: "Redid")
    }
}

/// The steps that are meant: a number of them, or one.
enum UndoSteps: ExpressibleByArgument {
    case latest(Int)
    case of(LogEntryName)

    init?(argument: String) {
        if argument.hasPrefix("@") {
            guard let entry = LogEntryName(argument: argument) else { return nil }
            self = .of(entry)
        } else {
            guard let count = Int(argument), count > 0 else { return nil }
            self = .latest(count)
        }
    }

    var defaultValueDescription: String { "1" }

    /// Returns what is chosen in a store.
    ///
    /// - Parameter latest: the choice of so many steps.
    func choice(
        on access: StoreAccess, _ latest: (Int) -> GestureChoice
    ) throws -> GestureChoice {
        switch self {
        case .latest(let count): latest(count)
        case .of(let entry): .ofToken(try access.token(of: entry))
        }
    }
}

/// The options of undo and redo.
struct UndoOptions: ParsableArguments {
    /// The number of records that are listed of each step; the others are counted.
    private static let listed = 20

    @Flag(
        name: [.customShort("n"), .long],
        help: "Print what would be done, word for word, and change nothing.")
    var dryRun = false
    @Flag(help: "Print one JSON object.")
    var json = false

    fileprivate func run(
        _ choice: GestureChoice, on access: StoreAccess, done: String
    ) throws {
        let reply = try access.perform(.undo(choice, isRehearsal: dryRun), about: nil).result
        if json { return Showing.json(reply) }
        let spelling = PathSpelling(for: access)
        for gesture in reply["gestures"]?.array ?? [] { show(gesture, spelling, done) }
        if dryRun { Terminal.error("Nothing was changed.") }
        try noteRefusals(after: reply["gestures"]?.array?.first, on: access, spelling)
    }

    /// Says when the last thing that somebody did is another one: a text that was refused is no
    /// step, and is not taken back.
    private func noteRefusals(
        after gesture: JSONValue?, on access: StoreAccess, _ spelling: PathSpelling
    ) throws {
        guard let text = gesture?.stringMember("time"),
            let time = ISO8601.parse(Array(text.utf8))
        else { return }
        let store = try access.reader()
        let path = try access.reporting { () throws(RecordError) -> RecordPath? in
            let later = try store.drafts().filter { $0.since.milliseconds > time }
            guard let last = later.max(by: { $0.since < $1.since }) else { return nil }
            return try DraftListCommand.path(of: last, in: store)
        }
        guard let path else { return }
        let name = String(decoding: spelling.spell(path.bytes), as: UTF8.self)
        Terminal.error(
            "note: after that, a text for \(name) was refused. It is a draft and no step: "
                + "recordfs draft discard \(name) gives back what was saved.")
    }

    private func show(_ gesture: JSONValue, _ spelling: PathSpelling, _ done: String) {
        let records = gesture["records"]?.array ?? []
        let changed = records.filter { $0["isLeft"]?.bool != true }
        let left = records.filter { $0["isLeft"]?.bool == true }
        let tool = gesture.stringMember("tool") ?? gesture.stringMember("author") ?? ""
        Terminal.print(
            "\(done) what \(tool.onOneLine) did at \(Self.localTime(of: gesture)): "
                + "\(Showing.count(changed.count, "record")) changed.")
        list(changed.map { Self.line($0, spelling) })
        if let sent = gesture.integerMember("sent"), sent > 0 {
            Terminal.print(
                "\(Showing.grouped(sent)) of \(Showing.grouped(changed.count)) had been sent; "
                    + "others will see that they are back.")
        }
        guard !left.isEmpty else { return }
        Terminal.print("\(Showing.count(left.count, "record")) left as it is:")
        list(left.map { Self.line($0, spelling) })
    }

    private func list(_ lines: [String]) {
        for row in Terminal.fitted(lines.prefix(Self.listed).map { ["  " + $0] }) {
            Terminal.print(row[0])
        }
        if lines.count > Self.listed {
            Terminal.print(
                "  and \(Showing.grouped(lines.count - Self.listed)) more (--json lists all)")
        }
    }

    private static func line(_ record: JSONValue, _ spelling: PathSpelling) -> String {
        let path = String(
            decoding: spelling.spell(record["path"]?.string?.utf8 ?? []), as: UTF8.self)
        let left = names(record["leftFields"])
        let rest = left.isEmpty ? "" : "; changed since, and left: \(left)"
        switch record.stringMember("effect") ?? "" {
        case "removed": return "removed       \(path)"
        case "broughtBack": return "brought back  \(path)"
        case "changed": return "changed back  \(path): \(names(record["fields"]))\(rest)"
        case let reason: return "\(path): \(words(UndoneRecord.Reason(rawValue: reason)))"
        }
    }

    private static func localTime(of gesture: JSONValue) -> String {
        let text = gesture.stringMember("time") ?? ""
        guard let milliseconds = ISO8601.parse(Array(text.utf8)) else { return text }
        return Showing.localTime(Timestamp(seconds: milliseconds / 1_000))
    }

    private static func names(_ fields: JSONValue?) -> String {
        (fields?.array ?? []).compactMap { $0.string.map(\.description) }.firstFew
    }

    private static func words(_ reason: UndoneRecord.Reason?) -> String {
        switch reason {
        case .changedSince: "it was changed since"
        case .removedSince: "it was removed since"
        case .nameIsTaken: "another record has its name now"
        case .versionIsGone: "the version before is no longer kept"
        case .hasDraft: "its file shows a text that was refused (recordfs draft)"
        case .readOnly: "you may not change it"
        case .notShared: "its zone is no longer shared with you"
        case nil: "the daemon did not say why"
        }
    }
}
