import ArgumentParser
import RecordControl
import RecordModel

/// The hidden command for tests and for people who examine a daemon.
struct DebugCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", abstract: "Requests for tests.", shouldDisplay: false,
        subcommands: [ApplyRemoteCommand.self, ControlCommand.self])
}

struct ApplyRemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply-remote",
        abstract: "Apply a change as if a server had reported it; JSON from a file.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The file; standard input by default.")
    var file = "-"

    func run() throws {
        let text = try reporting { () throws(RecordError) in try readWholeFile(file) }
        let reply = try state.access().perform(.applyRemote(text), about: file)
        Showing.jsonLine(reply.result)
    }
}

struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Send a verb to the daemon.",
        discussion: "Verbs: \(Self.verbs).")

    private static let verbs = ControlVerb.allCases.map(\.rawValue).joined(separator: ", ")

    @OptionGroup var state: StateOptions
    @Argument(help: "The verb.")
    var verb: String

    func run() throws {
        guard let verb = ControlVerb(rawValue: verb) else {
            throw CommandFailure(
                verb, "is no verb. There are \(Self.verbs).",
                status: ExitStatus.usage)
        }
        try state.access().perform(.verb(verb), about: nil)
    }
}
