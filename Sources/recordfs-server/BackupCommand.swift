import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy all data, also while the server runs.",
        discussion: """
            The copy is complete, with every asset, from one point in time. It contains the \
            secrets of the server and the hashes of passwords: protect it like the data itself.
            """)

    @OptionGroup var data: DataOptions
    @Argument(help: ArgumentHelp("A new or empty directory.", valueName: "directory"))
    var target: String

    func run() async throws {
        let configuration = data.configuration
        try await OpenedData.use(data) { (data) throws(ServerError) in
            let assets = try StorageFactory.openAssets(configuration)
            let summary = try await data.storage.backup(to: target, assets: assets)
            print(
                "Backed up to \(target): a database of \(summary.databaseBytes) bytes and "
                    + "\(summary.assetCount) assets.")
        }
    }
}

/// `recordfs-server restore`
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Create the data of a server from a backup.",
        discussion: """
            Changes after the backup are lost. The sync tokens of clients expire, and clients \
            fetch everything again. All users must sign in again, unless you keep the sessions. \
            What was disabled, revoked or removed after the backup is back: users, tokens, keys, \
            shares and participants. The command prints a list of them.
            """)

    @OptionGroup var data: DataOptions
    @Argument(help: ArgumentHelp("A directory that `backup` created.", valueName: "directory"))
    var backup: String
    @Flag(help: "Keep all sign-ins, also those that ended after the backup.")
    var keepSessions = false
    @Flag(help: "Only check that the backup is complete, and print what it contains.")
    var dryRun = false
    @Flag(help: "With --dry-run: read the content of every asset.")
    var deep = false

    func run() async throws {
        guard !dryRun else { return try await rehearse() }
        let report: RestoreReport
        do throws(ServerError) {
            report = try await StorageFactory.restore(
                backup, to: data.configuration, keepsSessions: keepSessions)
        } catch {
            throw CommandFailure(error)
        }
        print("Restored \(backup) to \(data.directory).")
        print(
            keepSessions
                ? "Sessions are those of the backup, also those that ended after it."
                : "All sessions have ended: everybody has to sign in again.")
        print("Everything that was removed after the backup is back. Check this list, and remove")
        print("again the entries that should not exist (`user disable`, `token revoke`, ...):\n")
        show(report)
    }

    private func rehearse() async throws {
        let (report, findings): (RestoreReport, [Finding])
        do throws(ServerError) {
            (report, findings) = try await StorageFactory.tryRestore(
                backup, data.configuration, keepsSessions: keepSessions, deep: deep)
        } catch {
            throw CommandFailure(error)
        }
        for finding in findings {
            print("\(finding.grade.rawValue): \(finding.what): \(finding.detail)")
        }
        guard !findings.contains(where: { $0.grade == .bad }) else {
            throw CommandFailure("\(backup) cannot be restored as it is.")
        }
        print("\(backup) can be restored. Nothing was changed. It contains:\n")
        show(report)
    }

    private func show(_ report: RestoreReport) {
        var table = Table(["what", "name", "where", "detail"])
        for item in report.items {
            table.add(
                .text(Text(item.kind.rawValue)), .text(item.name), .text(item.place),
                .text(item.detail))
        }
        table.print(asJSON: false)
    }
}
