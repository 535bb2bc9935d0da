import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck", abstract: "Check that the store is whole.",
        discussion: "It changes nothing without --repair.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Read every large field and compare it with its hash.")
    var deep = false

    @Flag(help: "Remove files of large fields that nothing refers to any more.")
    var repair = false

    func run() throws {
        let access = state.access()
        if repair {
            let reply = try access.perform(.collectAssets, about: access.directory)
            let removed = reply.result.integerMember("removed") ?? 0
            Terminal.print("\(Showing.count(removed, "unused file")) removed")
        }
        let store = try access.reader()
        let problems = try access.reporting { () throws(RecordError) in
            try store.integrityCheck(deep: deep)
        }
        for problem in problems { Terminal.print(problem) }
        guard problems.isEmpty else {
            throw CommandFailure(
                access.directory,
                "\(Showing.count(problems.count, "problem")). Keep a copy of the directory and "
                    + "report them.")
        }
        Terminal.print("\(access.directory): clean")
    }
}
