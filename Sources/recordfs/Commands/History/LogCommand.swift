import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "List what was done, the last first.",
        discussion: """
            An entry is what one program did in one go: a save of an editor, one rm -r, one sed -i \
            over many files, one import; or what came from elsewhere at once. recordfs undo @TOKEN \
            takes an entry back, recordfs show @TOKEN shows what it has changed. Times are those of \
            this machine's time zone. The log of the daemon is recordfs daemon-log.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Show what each entry has changed, by member.")
    var patch = false
    @Flag(help: "List the records of each entry.")
    var stat = false
    @Flag(help: "Show the name that each entry has on all machines, in place of its token.")
    var ids = false
    @Flag(help: "With a record: include the names that it had before it was renamed.")
    var follow = false
    @Option(help: ArgumentHelp("Only entries of this author.", valueName: "name"))
    var author: String?
    @Option(
        help: ArgumentHelp(
            "Only what came after: 10m, 2h or 3d ago, yesterday 18:00, a date or time, @TOKEN.",
            valueName: "time"))
    var since: RestorePoint?
    @Option(help: ArgumentHelp("Only what came until then.", valueName: "time"))
    var until: RestorePoint?
    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp("List at most this many entries.", valueName: "number"))
    var limit: Int?
    @Flag(help: "Print one JSON object for each entry.")
    var json = false
    @Argument(help: "A record, type, zone or database; everything without it.")
    var path: PathArgument?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is 1 or more.") }
    }

    func run() throws {
        let place = try path?.located(by: state)
        let access = try place?.store ?? state.access()
        let store = try access.reader()
        var query = LogQuery()
        (query.until, query.author) = (try until.map(access.resolved), author)
        if let since { query.since = try access.resolved(since) }
        if let limit { query.limit = limit }
        try access.reporting(path?.text) { () throws(RecordError) in
            if let place {
                (query.scope, query.records) = try store.logPlace(
                    of: place.path, following: follow)
            }
            let listing = LogListing(store: store, spelling: PathSpelling(for: access))
            let entries = try store.past.log(query)
            if json {
                for entry in entries { Showing.jsonLine(try listing.json(entry)) }
                return
            }
            let lines = try entries.map { (entry) throws(RecordError) in
                try listing.cells(entry, withName: ids)
            }
            let details: DifferenceForm? = patch ? .members : stat ? .summary : nil
            for (line, entry) in zip(Terminal.table(Terminal.fitted(lines)), entries) {
                Terminal.print(line)
                if let details { try listing.show(entry, details) }
            }
        }
    }
}

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what was changed in one go.",
        discussion: "recordfs log lists the tokens. Without one, the last entry is shown.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Show lines of the texts, as diff -u has them, and not members.")
    var text = false
    @Flag(help: "Only list the records.")
    var stat = false
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(
        help: ArgumentHelp(
            "A version that it has made, or the name that it has on all machines.",
            valueName: "@token"))
    var entry: LogEntryName?

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let token = try entry.map(access.token)
        try access.reporting(token.map { "@\($0)" }) { () throws(RecordError) in
            guard let entry = try store.past.logEntry(with: token) else {
                throw RecordError(.notFound, "there is no such version. recordfs log lists them.")
            }
            let listing = LogListing(store: store, spelling: PathSpelling(for: access))
            if json { return Showing.json(try listing.json(entry)) }
            Terminal.print(Terminal.table([try listing.cells(entry)])[0])
            if let name = entry.gesture?.name { Terminal.print("    on all machines: @\(name)") }
            try listing.show(entry, stat ? .summary : text ? .lines : .members)
        }
    }
}

/// An entry of the log: the token of a version that it has made, with or without the @ with which
/// recordfs log shows it, or after an @ the name that it has on all machines.
enum LogEntryName: ExpressibleByArgument {
    case token(Int64)
    case named(GestureName)

    init?(argument: String) {
        let rest = argument.hasPrefix("@") ? argument.dropFirst() : argument[...]
        if let number = Int64(rest), number > 0 {
            self = .token(number)
        } else if argument.hasPrefix("@"), let name = GestureName(rest) {
            self = .named(name)
        } else {
            return nil
        }
    }
}
