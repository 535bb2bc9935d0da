import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

extension TokenCommand {
    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Replace an API token; prints the new one, once.",
            discussion: """
                The old token is revoked: the server refuses the next request of clients with it, \
                until they get the new one. Nobody has to sign in again.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "The id of the token, from `token list`.")
        var id: String
        @Flag(help: "Show which token would be replaced, and change nothing.")
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
