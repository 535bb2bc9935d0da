import ArgumentParser
import RecordControl
import RecordModel

struct AcceptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept", abstract: "Join a share, and print its path.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print the share, with its path on this machine, as one JSON object.")
    var json = false
    @Flag(help: "Ask for access without an invitation. The owner approves or denies it.")
    var request = false
    @Argument(help: "The link.")
    var link: String

    func validate() throws { try LinkArgument.validate(link) }

    func run() throws {
        guard !request else { return try state.requestAccess(link, json: json) }
        let reply = try state.access().perform(.sharing(.accept(link: Text(link))), about: link)
        if json {
            Showing.json(reply.result)
        } else {
            Terminal.print(reply.result.stringMember("path") ?? "")
        }
    }
}

enum LinkArgument {
    /// Checks the link.
    ///
    /// Errors: a wrong usage for an empty link.
    static func validate(_ link: String) throws {
        if link.isEmpty { throw ValidationError("The link is empty.") }
    }
}
