import ArgumentParser
import RecordModel
import RecordServer
import RecordWire

extension TokenCommand {
    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Make a new API token in place of one, which is revoked; prints the new one, once.",
            discussion: """
                Clients with the old one are refused from the next request on, until they get the new \
                one; nobody has to sign in again.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "Its id, as `token list` shows it.")
        var id: String
        @Flag(help: "Show which one would be replaced, and change nothing.")
        var dryRun = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                guard !dryRun else {
                    let row = try await data.accounts.apiToken(container.text, Text(id))
                    print(
                        "Would replace \(row.name) (\(row.container.environment.rawValue)), "
                            + "which ends the old token.")
                    return
                }
                let (token, _) = try await data.accounts.replaceAPIToken(
                    container.text, Text(id), now: data.now)
                print(token)
            }
        }
    }
}
