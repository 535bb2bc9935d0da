import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server user ...`
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Add, change and remove users of this server.",
        subcommands: [
            Add.self, List.self, Show.self, Change.self, SetEmail.self, Disable.self, Enable.self,
            SetPassword.self, ResetLink.self, SignOut.self, Events.self, Quota.self, Export.self,
            Delete.self,
        ])

    /// The user of a command.
    struct Name: ParsableArguments {
        @Argument(help: "The e-mail address or the record name of the user.")
        var user: String
    }
}

extension UserCommand {
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a user, and print the record name.")

        @OptionGroup var data: DataOptions
        @Argument(help: "The e-mail address to sign in with.")
        var email: String
        @Option(help: "The name that others see: given name and family name.")
        var name: String?
        @Flag(help: "Also allow schema changes in all containers.")
        var admin = false
        @Flag(help: "Let other users find this user, also by e-mail address.")
        var discoverable = false
        @Flag(help: "Read the password from standard input instead of asking for it.")
        var passwordStdin = false

        func run() async throws {
            let password = try PasswordInput.read(fromStandardInput: passwordStdin)
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let name = PersonName(name ?? "")
                let user = try await data.accounts.addUser(
                    emailAddress: Text(email), password: password, givenName: name.given,
                    familyName: name.family, isAdministrator: admin, isDiscoverable: discoverable,
                    now: data.now)
                print(user.name)
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all users.")

        @OptionGroup var data: DataOptions
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                var table = Table([
                    "email", "recordName", "givenName", "familyName", "admin", "disabled",
                    "discoverable", "quotaBytes", "usedBytes", "created",
                ])
                let used = try await data.accounts.usedBytes()
                for user in try await data.accounts.users() {
                    table.add(
                        .text(user.emailAddress), .text(Text(utf8: user.name.bytes)),
                        .text(user.givenName), .text(user.familyName),
                        .flag(user.isAdministrator), .flag(user.isDisabled),
                        .flag(user.isDiscoverable), .number(user.quotaBytes),
                        .number(used[user.name] ?? 0),
                        .time(user.createdMilliseconds))
                }
                table.print(asJSON: json)
            }
        }
    }

    struct Change: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Change a user.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Option(name: .customLong("name"), help: "The name that others see.")
        var newName: String?
        @Flag(inversion: .prefixedNo, help: "Allow schema changes in all containers.")
        var admin: Bool?
        @Flag(
            inversion: .prefixedNo,
            help: "Let other users find this user, also by e-mail address.")
        var discoverable: Bool?

        func run() async throws {
            let (newName, admin, discoverable) = (newName, admin, discoverable)
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.changeUser(Text(name.user)) { user in
                    if let newName {
                        let name = PersonName(newName)
                        (user.givenName, user.familyName) = (name.given, name.family)
                    }
                    if let admin { user.isAdministrator = admin }
                    if let discoverable { user.isDiscoverable = discoverable }
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Refuse all credentials of a user at once. The data stays.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.changeUser(Text(name.user), endsSessions: true) {
                    $0.isDisabled = true
                }
            }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a disabled user sign in again.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.changeUser(Text(name.user)) { $0.isDisabled = false }
            }
        }
    }

    struct SetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "password",
            abstract: "Set a new password, and end all sign-ins.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Flag(help: "Read the password from standard input instead of asking for it.")
        var passwordStdin = false

        func run() async throws {
            let password = try PasswordInput.read(fromStandardInput: passwordStdin)
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.setPassword(of: Text(name.user), to: password)
            }
        }
    }

    struct Quota: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the quota of a user's private databases.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Argument(
            help: "Bytes, or with K, M, G or T; `default` for the limit of the server.")
        var size: ByteCount

        func run() async throws {
            let bytes = size.bytes
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.changeUser(Text(name.user)) { $0.quotaBytes = bytes }
            }
        }
    }
}

/// A given name and a family name. The last word is the family name.
struct PersonName {
    let given: Text
    let family: Text

    init(_ name: String) {
        let words = name.split(separator: " ")
        given = Text(words.count > 1 ? words.dropLast().joined(separator: " ") : name)
        family = words.count > 1 ? Text(words[words.count - 1]) : ""
    }
}

/// A number of bytes such as `500M`, in powers of 1024. It is nil for `default`.
struct ByteCount: ExpressibleByArgument {
    let bytes: Int64?

    init?(argument: String) {
        if argument == "default" {
            bytes = nil
            return
        }
        guard let size = ByteSize.parse(argument) else { return nil }
        bytes = size
    }
}
