import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct MomentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "moment",
        abstract: "Give moments a name, and keep all that was shown then.",
        discussion: """
            The name stands wherever a moment does: recordfs diff NAME, recordfs restore --since NAME, \
            and the directory .recordfs/at/NAME of the mount. Old versions are removed after 90 days; \
            those that a named moment shows stay until the name is deleted.
            """,
        subcommands: [
            MomentListCommand.self, MomentCreateCommand.self, MomentDeleteCommand.self,
        ],
        defaultSubcommand: MomentListCommand.self)
}

struct MomentListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the named moments, the earliest first.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each moment.")
    var json = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let moments = try access.reporting { () throws(RecordError) in try store.moments.named() }
        if json { return moments.forEach { Showing.jsonLine($0.json) } }
        Terminal.printTable(
            moments.map { ["@\($0.token)", Showing.localTime($0.at), $0.name.text] },
            rightAligned: [0])
    }
}

struct MomentCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Give the present moment a name, or an earlier one.")

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Option(
        help: ArgumentHelp(
            "An earlier moment: 10m, 2h or 3d ago, yesterday 18:00, a date or time, @TOKEN.",
            valueName: "time"))
    var at: RestorePoint?
    @Argument(help: "A letter, then letters, digits, -, _ and dots.")
    var name: MomentName

    func run() throws {
        let access = try state.access()
        let point = try at.map(access.resolved)
        let reply = try access.perform(.nameMoment(name, point), about: name.text)
        Terminal.print("\(name) is @\(reply.result.integerMember("token") ?? 0).")
    }
}

struct MomentDeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete the name of a moment. No record changes by that.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The name of the moment.")
    var name: MomentName

    func run() throws {
        try state.access().perform(.removeMoment(name), about: name.text)
    }
}

extension MomentName: ExpressibleByArgument {
    /// Reads an argument: a valid name.
    public init?(argument: String) { self.init(argument) }
}
