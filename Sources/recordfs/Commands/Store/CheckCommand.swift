import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck", abstract: "Check that the store is complete and undamaged.",
        discussion: "It changes nothing without --repair or --recover.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Read every text and every large field, and compare each with its checksum.")
    var deep = false

    @Flag(
        help: """
            Remove the files of large fields that no record, version or deleted record needs, if \
            nothing else is wrong. Files that the database has never known stay: they may be all \
            that is left of their records.
            """)
    var repair = false

    @Flag(
        help: """
            Set a damaged database aside and create an empty store in its place. Records that no \
            server is known to have are written to files; the others are downloaded again.
            """)
    var recover = false

    func validate() throws {
        guard recover, deep || repair else { return }
        throw ValidationError("--recover goes with neither --deep nor --repair.")
    }

    func run() throws {
        let access = try state.access()
        if recover { return try recover(access) }
        let store = try access.reader()
        let (problems, unknown) = try access.reporting { () throws(RecordError) in
            (try store.upkeep.integrityCheck(deep: deep), try store.assets.unknownAssets())
        }
        for problem in problems { Terminal.print(problem) }
        guard problems.isEmpty else {
            throw CommandFailure(
                access.directory,
                "\(Showing.count(problems.count, "problem")). Keep a copy of the directory before "
                    + "anything else. If no command above fixes a problem, use a backup; without one, "
                    + "`recordfs fsck --recover` saves the records that can be read.")
        }
        if repair {
            let reply = try access.perform(.collectAssets, about: access.directory)
            let removed = reply.result.integerMember("removed") ?? 0
            Terminal.print("\(Showing.count(removed, "unused file")) removed")
        }
        if !unknown.isEmpty { try tell(unknown, store, access) }
        Terminal.print("\(access.directory): clean")
        guard !deep else { return }
        Terminal.print(
            "Not read: the texts of records and their versions, and the content of large fields. "
                + "recordfs fsck --deep reads them too.")
    }

    private func recover(_ access: StoreAccess) throws {
        let name = Showing.time(SystemClock().now).replacing(":", with: "-")
        let done = try access.reporting { () throws(RecordError) in
            try RecordStore.recover(directory: access.directory, name: name)
        }
        for loss in done.losses { Terminal.print(loss) }
        Terminal.print("The damaged database is in \(done.aside).")
        if let unsent = done.unsent {
            Terminal.print(
                "\(Showing.count(done.unsentCount, "record")) that no server is known to have: "
                    + "\(unsent). Look at them, and copy the missing records into the mount.")
        }
        Terminal.print(
            "\(access.directory): an empty store. \(Showing.count(done.sentCount, "record")) of the "
                + "damaged one are downloaded again; `recordfs status` says whether you are signed "
                + "in.")
    }

    /// Reports the unknown files.
    ///
    /// Errors: a failure with --repair, which leaves the files as they are.
    private func tell(
        _ unknown: [ContentHash], _ store: RecordStore, _ access: StoreAccess
    ) throws(CommandFailure) {
        for hash in unknown {
            Terminal.print("\(store.assets.assetPath(hash)): not known to this store")
        }
        let message =
            "\(Showing.count(unknown.count, "file")) of large fields not known to this store. They "
            + "belong to records that were made after a restored backup, or store.sqlite belongs to "
            + "another store. Nothing removes them: move them away yourself."
        if repair { throw CommandFailure(access.directory, message) }
        Terminal.error("\(access.directory): \(message)")
    }
}
