import ArgumentParser
import RecordModel
import RecordServerCore
import RecordWire

/// `recordfs-server key ...`
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Add and revoke server-to-server keys.",
        subcommands: [Add.self, List.self, Revoke.self])
}

extension KeyCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a public key, and print its key id.",
            discussion: """
                openssl ecparam -name prime256v1 -genkey -noout -out eckey.pem
                openssl ec -in eckey.pem -pubout -out public.pem
                """)

        @OptionGroup var data: DataOptions
        @Argument(help: "The public key in PEM form; - for standard input.")
        var file: String
        @OptionGroup var container: ContainerName
        @OptionGroup var environment: EnvironmentOption
        @Option(help: "The user that the key acts for, by e-mail address or record name.")
        var user: String
        @Option(help: "A name for `key list`.")
        var name = ""
        @Flag(help: "Also allow to read, change and reset the schema, for an administrator.")
        var schema = false

        func run() async throws {
            let pem = Text(utf8: try InputFile.read(file, limit: 64 << 10))
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let key = try await data.accounts.addServerKey(
                    pem,
                    ContainerKey(container: container.text, environment: environment.environment),
                    name: Text(name), user: Text(user), managesSchema: schema, now: data.now)
                print(key.keyID)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the server-to-server keys of a container.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let schemaKeys = try await data.accounts.schemaKeys(container.text)
                var table = Table([
                    "id", "environment", "name", "user", "schema", "revoked", "created",
                ])
                for key in try await data.accounts.serverKeys(container.text) {
                    table.add(
                        .text(key.keyID), .text(Text(key.container.environment.rawValue)),
                        .text(key.name), .text(Text(utf8: key.user.bytes)),
                        .flag(schemaKeys.contains(key.keyID)), .flag(key.isRevoked),
                        .time(key.createdMilliseconds))
                }
                table.print(asJSON: json)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key. The server refuses its next request.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "The id of the key, or at least its first 8 digits.")
        var id: String

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.revokeServerKey(container.text, Text(id))
            }
        }
    }
}
