import ArgumentParser
import RecordControl
import RecordModel

struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Delete records, large fields, empty record types and empty zones.",
        discussion: "Deleted records stay in the trash for 30 days. Use recordfs restore.")

    @OptionGroup var state: StateOptions
    @OptionGroup var author: AuthorOptions
    @Flag(name: .shortAndLong, help: "Delete record types and zones with all their content.")
    var recursive = false
    @Flag(name: .shortAndLong, help: "Ignore paths that do not exist.")
    var force = false
    @Argument(help: "The paths to delete.")
    var paths: [PathArgument]

    func run() throws {
        let targets = try paths.map { path in try path.located(by: state) }
        var worst = ExitStatus.success
        // In the order of the arguments, but all arguments of one store together.
        for (index, target) in targets.enumerated() {
            let store = target.store.directory
            if targets[..<index].contains(where: { $0.store.directory == store }) { continue }
            let ofStore = targets[index...].filter { $0.store.directory == store }
            worst = max(worst, try remove(ofStore, from: target.store))
        }
        if worst != ExitStatus.success { throw CommandFailure(nil, "", status: worst) }
    }

    /// Removes the targets and returns the exit status. A target that cannot be removed is reported
    /// and does not stop the others.
    private func remove(_ targets: [LocatedPath], from store: StoreAccess) throws -> Int32 {
        var worst = ExitStatus.success
        try store.write { writer in
            for target in targets {
                do throws(RecordError) {
                    _ = try writer.perform(.remove(target.path, recursive: recursive))
                } catch {
                    if force, error.code == .notFound { continue }
                    let failure = CommandFailure(store.subject(target.text), error)
                    failure.show()
                    worst = max(worst, failure.status)
                }
            }
        }
        return worst
    }
}
