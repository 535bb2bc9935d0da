import ArgumentParser
import RecordControl
import RecordModel

struct DeclineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decline", abstract: "Decline what somebody invites you to.",
        discussion:
            "The invitation is gone, here and for who has made it, who can invite you again. What you "
            + "have accepted, recordfs leave gives back.")

    @OptionGroup var state: StateOptions
    @Flag(help: "As one JSON object.")
    var json = false
    @Argument(help: "The link, as recordfs shares and recordfs status have it.")
    var link: String

    func validate() throws { try LinkArgument.validate(link) }

    func run() throws {
        _ = try state.access().perform(.sharing(.decline(link: Text(link))), about: link)
        if json { Showing.json(["declined": true]) }
    }
}
