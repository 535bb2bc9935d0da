import ArgumentParser
import RecordControl
import RecordModel

struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mv", abstract: "Give a record another name, type, zone or database.",
        discussion: "A record with the new name is replaced; its versions stay in the history.")

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Argument(help: "The record.")
    var source: PathArgument
    @Argument(help: "Its new path, or the record type to move it to.")
    var target: PathArgument

    func run() throws {
        let from = try source.located(by: state)
        let to = try target.located(by: state)
        guard HostDirectory.isSame(from.store.directory, to.store.directory) else {
            throw CommandFailure(
                source.text,
                "is in the store \(from.store.directory), and \(target.text) in "
                    + "\(to.store.directory). A record is moved within a store; between stores "
                    + "use recordfs get and put.")
        }
        try from.store.perform(.move(from.path, to: to.path), about: source.text)
    }
}
