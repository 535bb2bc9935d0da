import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

/// `recordfs-server backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy all data, also while the server runs.",
        discussion: """
            The copy is of one point in time and complete, with every asset. It holds the \
            server's secrets and the passwords' hashes: keep it as safe as the data itself.
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
        commandName: "restore", abstract: "Make the data of a server from a backup.",
        discussion: """
            What was written after the backup is lost. Clients notice: their sync tokens expire, \
            and they fetch everything again. Everybody has to sign in again, unless sessions are \
            kept. What was taken away since the backup - disabled users, revoked tokens and keys, \
            ended shares, removed participants - is back: the command prints what there is now.
            """)

    @OptionGroup var data: DataOptions
    @Argument(help: ArgumentHelp("What `backup` has made.", valueName: "directory"))
    var backup: String
    @Flag(help: "Leave people signed in, also where they were signed out since the backup.")
    var keepSessions = false
    @Flag(help: "Try it only: look whether the backup is whole, and print what would be there.")
    var dryRun = false
    @Flag(help: "With --dry-run, read the bytes of every asset.")
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
                ? "Sessions are those of the backup, with those that were ended since."
                : "All sessions have ended: everybody has to sign in again.")
        print("What was taken away since the backup is back. This is there now; see what of it")
        print("should not be, and take it away again (`user disable`, `token revoke`, ...):\n")
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
        print("\(backup) can be restored. Nothing was changed. This would be there:\n")
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
