import ArgumentParser
import RecordControl

struct RevertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Give up changes that the server has refused.",
        discussion: """
            Each record at or below PATH whose change was refused is again as the server last told \
            of it: an edited one has its values of before, a new one goes into the trash, a deleted \
            one is back. What is given up stays in recordfs history. Changes that wait to be sent \
            are not touched.
            """)

    @OptionGroup var state: StateOptions
    @Argument(help: "The record, also one that was deleted; or a record type or zone.")
    var path: PathArgument

    func run() throws {
        let place = try path.located(by: state)
        let reply = try place.store.perform(.revert(place.path), about: path.text)
        let count = reply.result.integerMember("reverted") ?? 0
        Terminal.error(count == 1 ? "1 change given up." : "\(count) changes given up.")
    }
}
