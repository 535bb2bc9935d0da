import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck", abstract: "Check that the store is whole.",
        discussion: "It changes nothing without --repair.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Read every text and every large field, and compare them with their checksums.")
    var deep = false

    @Flag(
        help: """
            Remove files of large fields that the database does not know, when nothing else is \
            wrong. After a restore from a backup they may be of later records: keep them then.
            """)
    var repair = false

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let (problems, unknown) = try access.reporting { () throws(RecordError) in
            (try store.integrityCheck(deep: deep), try store.unknownAssets())
        }
        for problem in problems { Terminal.print(problem) }
        guard problems.isEmpty else {
            throw CommandFailure(
                access.directory,
                "\(Showing.count(problems.count, "problem")). Keep a copy of the directory before "
                    + "anything else. What no command above mends comes from a backup.")
        }
        if repair {
            let reply = try access.perform(.collectAssets, about: access.directory)
            let removed = reply.result.integerMember("removed") ?? 0
            Terminal.print("\(Showing.count(removed, "unused file")) removed")
        } else if unknown > 0 {
            Terminal.print(
                "\(Showing.count(unknown, "file")) in assets/ that no record has. After a restore "
                    + "from a backup they may be of later records; else fsck --repair removes them."
            )
        }
        Terminal.print("\(access.directory): clean")
    }
}
