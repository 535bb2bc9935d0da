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
        let targets = try paths.map { path in try path.located(by: state) }
        var worst = ExitStatus.success
        // In the order of the arguments; those of one store one after the other.
        for (index, target) in targets.enumerated() {
            let store = target.store.directory
            if targets[..<index].contains(where: { $0.store.directory == store }) { continue }
            let ofStore = targets[index...].filter { $0.store.directory == store }
            worst = max(worst, try remove(ofStore, from: target.store))
        }
        if worst != ExitStatus.success { throw CommandFailure(nil, "", status: worst) }
    }

    /// Returns the exit status: what cannot be removed is told and does not stop the others.
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
