import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server seal-key ...`
struct SealKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal-key", abstract: "Replace the secret that the server seals tokens with.",
        subcommands: [Replace.self])

    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a new secret, when somebody may know the old one.",
            discussion: """
                All users must sign in again. The sync tokens of clients expire, and clients fetch \
                everything again. Records, users, API tokens and keys stay. Stop the server first.
                """)

        @OptionGroup var data: DataOptions
        @Flag(help: "Show what would end, and change nothing.")
        var dryRun = false
        @Flag(help: "Replace it.")
        var yes = false

        func run() async throws {
            let options = data
            try await OpenedData.use(data) { (data) throws(ServerError) in
                guard !dryRun else {
                    var count = 0
                    for user in try await data.accounts.users() {
                        count += try await data.accounts.sessions(of: Text(utf8: user.name.bytes))
                            .count { !$0.isRevoked }
                    }
                    print("Would replace the seal key, which ends \(count) sign-ins.")
                    return
                }
                guard yes else {
                    throw ServerError(
                        .badRequest,
                        "This ends all sign-ins and sync tokens. Use --yes to do it, or --dry-run to look."
                    )
                }
                let lock = try DataDirectory(options.directory).lock()
                defer { lock.release() }
                let count = try await SealKey.replace(data.storage)
                print("Replaced the seal key. \(count) sign-ins have ended.")
            }
        }
    }
}
