import ArgumentParser
import RecordControl
import RecordModel
import RecordStore

struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the whole store, also while it is mounted.",
        discussion: """
            The copy is a store of its own, with history, trash, drafts, local files and the sign-in: \
            recordfs ls --state DIR looks into it, and recordfs restore --at brings earlier moments \
            back. Called again with the same DIR, it copies only the large fields that are new; \
            until it is done, the earlier backup stays. With a name that ends with .tar, the copy \
            is one file, which tar unpacks into DIR. To use a backup in place of a lost store, copy \
            DIR there and mount it. Never use a store and its copy both: the server would take \
            them for one machine.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Read every text and every large field of the copy, and compare checksums.")
    var verify = false
    @Argument(
        help: ArgumentHelp(
            "An empty directory, one that is not there yet, or an earlier backup; or a new file "
                + "whose name ends with .tar.", valueName: "directory or file"),
        completion: .file())
    var directory: String

    func run() throws {
        let access = try state.access()
        let store = try access.reader()
        let target = HostPaths.unresolved(directory)
        let result = try access.reporting { () throws(RecordError) in
            if let archive = BackupArchive(path: target) {
                return try archive.make(of: store, isDeep: verify)
            }
            return try StoreBackup(of: store, in: target).run(isDeep: verify)
        }
        for problem in result.problems { Terminal.print(problem) }
        guard result.problems.isEmpty else {
            throw CommandFailure(
                directory,
                "\(Showing.count(result.problems.count, "problem")), as above. The same may be in the "
                    + "store: recordfs fsck --deep.")
        }
        Terminal.print(
            "\(directory): \(Showing.size(result.bytes)) written, "
                + "\(Showing.count(result.copied, "new large field")) of "
                + "\(Showing.grouped(result.files)); it can be read"
                + (verify ? ", and every byte is as it was." : "."))
    }
}
