import ArgumentParser
import RecordModel
import RecordServerCore
import RecordWire

/// `recordfs-server token ...`
struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Create and revoke API tokens, and end sign-ins.",
        subcommands: [
            Create.self, List.self, Replace.self, Revoke.self, SessionCommand.self,
        ])
}

extension TokenCommand {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an API token for a client; prints it, once.",
            discussion: """
                Without --callback, the client page that opened the sign-in window gets the token \
                by window.postMessage. --callback http://127.0.0.1 allows any port and path at \
                that address, for programs without their own server.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @OptionGroup var environment: EnvironmentOption
        @Option(help: "The name that people see when they sign in.")
        var name: String
        @Option(help: "The URL to return to after sign-in.")
        var callback: String?
        @Option(
            name: .customLong("origin"),
            help: "An origin of pages that may use the token; can be repeated. Default: any.")
        var origins: [String] = []

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let (token, _) = try await data.accounts.createAPIToken(
                    ContainerKey(container: container.text, environment: environment.environment),
                    name: Text(name), callbackURL: callback.map { Text($0) },
                    allowedOrigins: origins.map { Text($0) }, now: data.now)
                print(token)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the API tokens of a container, without the tokens themselves.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                var table = Table([
                    "id", "environment", "name", "callback", "origins", "revoked", "created",
                ])
                for token in try await data.accounts.apiTokens(container.text) {
                    table.add(
                        .text(Text(utf8: Array(token.hash.utf8.prefix(16)))),
                        .text(Text(token.container.environment.rawValue)), .text(token.name),
                        .text(token.callbackURL ?? ""), .list(token.allowedOrigins),
                        .flag(token.isRevoked), .time(token.createdMilliseconds))
                }
                table.print(asJSON: json)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke an API token. The server refuses its next request.")

        @OptionGroup var data: DataOptions
        @OptionGroup var container: ContainerName
        @Argument(help: "The id of the token, from `token list`.")
        var id: String

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.revokeAPIToken(container.text, Text(id))
            }
        }
    }

    /// `recordfs-server token session ...`
    struct SessionCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "session", abstract: "List and end the sign-ins of a user.",
            subcommands: [List.self, Revoke.self])

        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "List the sign-ins of a user.")

            @OptionGroup var data: DataOptions
            @OptionGroup var name: UserCommand.Name
            @Flag(help: "Print JSON.")
            var json = false

            func run() async throws {
                try await OpenedData.use(data) { (data) throws(ServerError) in
                    var table = Table([
                        "id", "container", "environment", "label", "revoked", "created", "lastUsed",
                        "expires",
                    ])
                    for session in try await data.accounts.sessions(of: Text(name.user)) {
                        table.add(
                            .text(session.id), .text(session.container.container),
                            .text(Text(session.container.environment.rawValue)),
                            .text(session.label), .flag(session.isRevoked),
                            .time(session.createdMilliseconds),
                            .time(session.generationMilliseconds),
                            .time(session.expiresMilliseconds))
                    }
                    table.print(asJSON: json)
                }
            }
        }

        struct Revoke: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "End a sign-in. The server refuses its next request.")

            @OptionGroup var data: DataOptions
            @Argument(help: "The id of the sign-in, from `token session list`.")
            var id: String

            func run() async throws {
                try await OpenedData.use(data) { (data) throws(ServerError) in
                    try await data.accounts.revokeSession(Text(id))
                }
            }
        }
    }
}
