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
            Remove files of large fields that no record, version or deleted record needs any more, \
            when nothing else is wrong. Files that the database has never known stay: they may be \
            all that is left of their records.
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
                    + "anything else. What no command above mends comes from a backup; without "
                    + "one, `sqlite3 store.sqlite .recover` prints what can be read.")
        }
        if repair {
            let reply = try access.perform(.collectAssets, about: access.directory)
            let removed = reply.result.integerMember("removed") ?? 0
            Terminal.print("\(Showing.count(removed, "unused file")) removed")
        }
        if !unknown.isEmpty { try tell(unknown, store, access) }
        Terminal.print("\(access.directory): clean")
    }

    /// Errors: with --repair, which leaves them as they are.
    private func tell(
        _ unknown: [ContentHash], _ store: RecordStore, _ access: StoreAccess
    ) throws(CommandFailure) {
        for hash in unknown {
            Terminal.print("\(store.assetPath(hash)): not known to this store")
        }
        let message =
            "\(Showing.count(unknown.count, "file")) of large fields not known to this store. They "
            + "are of records that were made after a backup that was put back, or store.sqlite is "
            + "another store's. Nothing removes them: move them away yourself."
        if repair { throw CommandFailure(access.directory, message) }
        Terminal.error("\(access.directory): \(message)")
    }
}
