import ArgumentParser
import RecordControl
import RecordModel

struct ShareStopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Stop sharing. Everyone else loses access.",
        discussion: "All records stay here. If you share them again, the link is the same.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        guard place.path.database == .private else {
            throw CommandFailure(
                path.text, "belongs to somebody else. recordfs leave ends your part in it.")
        }
        try place.end(.stop, rehearsal)
    }
}

struct LeaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Leave a share that you accepted.",
        discussion:
            "The records are removed from this account. The owner keeps them, with your changes.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone, shared/OWNER/ZONE, or the shared record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        guard place.path.database == .shared else {
            throw CommandFailure(path.text, "belongs to you. recordfs share stop ends a share.")
        }
        try place.end(.leave, rehearsal)
    }
}

/// The options of commands that take access from people.
struct RehearsalOptions: ParsableArguments {
    @Flag(
        name: [.customShort("n"), .long],
        help: "Show who would lose access and which records stay, and change nothing.")
    var dryRun = false
    @Flag(
        help: """
            Print one JSON object: with --dry-run the planned effect, else the effect, or the \
            changed share.
            """)
    var json = false
}

extension LocatedPath {
    /// Ends a share, or leaves it.
    fileprivate func end(
        _ what: ShareRehearsal.What, _ options: RehearsalOptions
    ) throws {
        if options.dryRun { return try rehearse(what, json: options.json) }
        guard options.json else {
            _ = try ask(.end(path))
            return
        }
        // The loss is known only before the share ends.
        let told = try ask(.preview(path, what.edit))
        _ = try ask(.end(path))
        Showing.json(ShareRehearsal(what, path, told).json(isRehearsal: false))
    }

    /// Prints the effect that the command would have.
    func rehearse(_ what: ShareRehearsal.What, json: Bool) throws {
        let told = try ask(.preview(path, what.edit))
        let rehearsal = ShareRehearsal(what, path, told)
        if json {
            Showing.json(rehearsal.json(isRehearsal: true))
        } else {
            for line in rehearsal.lines(path: text) { Terminal.print(line) }
        }
    }
}
