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
        let assetPath = data.assetPath
        try await OpenedData.use(data) { (data) throws(ServerError) in
            let assets: AssetDirectory
            do throws(RecordError) {
                assets = try AssetDirectory(path: assetPath)
            } catch {
                throw ServerError(.internalError, error.message)
            }
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
            and they fetch everything again. Users, keys and sessions are those of the backup.
            """)

    @OptionGroup var data: DataOptions
    @Argument(help: ArgumentHelp("What `backup` has made.", valueName: "directory"))
    var backup: String

    func run() async throws {
        do throws(ServerError) {
            try Restore.restore(backup, to: data.directory)
        } catch {
            throw CommandFailure(error)
        }
        print("Restored \(backup) to \(data.directory).")
    }
}
