import ArgumentParser
import RecordControl
import RecordModel

struct DeclineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline an invitation.",
        discussion:
            "The invitation is removed, here and for the person who made it. They can invite you "
            + "again. To give up a share that you accepted, use recordfs leave.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object.")
    var json = false
    @Argument(help: "The link, which recordfs shares and recordfs status print.")
    var link: String

    func validate() throws { try LinkArgument.validate(link) }

    func run() throws {
        _ = try state.access().perform(.sharing(.decline(link: Text(link))), about: link)
        if json { Showing.json(["declined": true]) }
    }
}
