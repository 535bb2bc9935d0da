import ArgumentParser
import RecordControl
import RecordModel

struct ShareStopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "Share it no longer: it goes from all others.",
        discussion: "All of it stays here. Shared again, it has the same link.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone or record.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        guard place.path.database == .private else {
            throw CommandFailure(
                path.text, "is of somebody else. recordfs leave gives it back.")
        }
        try place.end(.stop, rehearsal)
    }
}

struct LeaveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "leave", abstract: "Give back what somebody shares with you.",
        discussion:
            "It goes from this account. Its owner keeps all of it, with what you have written.")

    @OptionGroup var state: StateOptions
    @OptionGroup var rehearsal: RehearsalOptions
    @Argument(help: "The zone, shared/OWNER/ZONE; or the record that is shared.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        guard place.path.database == .shared else {
            throw CommandFailure(path.text, "is your own. recordfs share stop ends a share.")
        }
        try place.end(.leave, rehearsal)
    }
}

/// Of commands that take something from people.
struct RehearsalOptions: ParsableArguments {
    @Flag(
        name: [.customShort("n"), .long],
        help: "Say who would lose what and what stays, and change nothing.")
    var dryRun = false
    @Flag(
        help: """
            As one JSON object: with --dry-run what would happen, else what has happened, or the share as it is \
            then.
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
        // What goes can be told only before.
        let told = try ask(.preview(path, what.edit))
        _ = try ask(.end(path))
        Showing.json(ShareRehearsal(what, path, told).json(isRehearsal: false))
    }

    /// Says what would happen.
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
