import ArgumentParser
import RecordControl
import RecordModel

struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Give a record another name, type, zone or database.",
        discussion: "A record that has the new name is replaced; its versions stay in history.")

    @OptionGroup var state: StateOptions
    @Argument(help: "The record.")
    var source: PathArgument
    @Argument(help: "Its new path, or the record type to move it to.")
    var target: PathArgument

    func run() throws {
        let request = ControlRequest.move(try source.resolved(), to: try target.resolved())
        try state.perform(request, about: source.text)
    }
}
