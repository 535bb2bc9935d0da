import ArgumentParser
import RecordControl
import RecordModel

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Delete records, large fields, empty record types and empty zones.",
        discussion: "Deleted records stay in the trash for 30 days: recordfs restore.")

    @OptionGroup var state: StateOptions
    @Flag(name: .shortAndLong, help: "Delete record types and zones with all that is in them.")
    var recursive = false
    @Flag(name: .shortAndLong, help: "Do not mind what is not there.")
    var force = false
    @Argument(help: "What to delete.")
    var paths: [PathArgument]

    func run() throws {
        let targets = try paths.map { ($0.text, try $0.resolved()) }
        var worst = ExitStatus.success
        try state.write { writer in
            for (text, target) in targets {
                do throws(RecordError) {
                    _ = try writer.perform(.remove(target, recursive: recursive))
                } catch {
                    if force, error.code == .notFound { continue }
                    let failure = CommandFailure(text, error)
                    failure.show()
                    worst = max(worst, failure.status)
                }
            }
        }
        if worst != ExitStatus.success { throw CommandFailure(nil, "", status: worst) }
    }
}
