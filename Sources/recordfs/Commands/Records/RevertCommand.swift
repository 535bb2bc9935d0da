import ArgumentParser
import RecordControl

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Give up changes that the server refused.",
        discussion: """
            Each record at or below PATH with a refused change returns to the version that the \
            server last sent: an edited record gets its old values back, a new record moves to the \
            trash, a deleted record comes back. The given-up versions stay in recordfs history. \
            Changes that wait to be sent stay.
            """)

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Argument(help: "The record (also a deleted one), or a record type or zone.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let reply = try place.store.perform(.revert(place.path), about: path.text)
        let count = reply.result.integerMember("reverted") ?? 0
        Terminal.error(count == 1 ? "1 change given up." : "\(count) changes given up.")
    }
}
