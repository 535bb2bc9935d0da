import ArgumentParser
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

extension UserCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the data of a user, and how much of the quota is used.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let summary = try await data.accounts.summary(of: Text(name.user), now: data.now)
                let user = summary.user
                var table = Table(["what", "value"])
                func add(_ what: Text, _ value: Table.Cell) { table.add(.text(what), value) }
                add("email", .text(user.emailAddress))
                add("recordName", .text(Text(utf8: user.name.bytes)))
                add("givenName", .text(user.givenName))
                add("familyName", .text(user.familyName))
                add("admin", .flag(user.isAdministrator))
                add("disabled", .flag(user.isDisabled))
                add("discoverable", .flag(user.isDiscoverable))
                add("created", .time(user.createdMilliseconds))
                add(
                    "lastSignIn",
                    summary.lastSignInMilliseconds.map { Table.Cell.time($0) } ?? .text(""))
                add("quotaBytes", .number(user.quotaBytes))
                add("usedBytes", .number(summary.usedBytes))
                add("used", .text(Text(ByteSize.text(summary.usedBytes))))
                add("zones", .number(Int64(summary.zoneCount)))
                add("records", .number(summary.recordCount))
                add("shares", .number(Int64(summary.shareCount)))
                add("sharedZones", .number(Int64(summary.sharedZoneCount)))
                add("sessions", .number(Int64(summary.sessionCount)))
                add("keys", .number(Int64(summary.keyCount)))
                table.print(asJSON: json)
            }
        }
    }

    struct SetEmail: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "email", abstract: "Change the e-mail address that a user signs in with.",
            discussion: """
                The user gets invitations to the new address. Invitations to the old address \
                belong to nobody. Sign-ins stay.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Argument(help: "The new address.")
        var email: String

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                _ = try await data.accounts.setEmailAddress(
                    of: Text(name.user), to: Text(email), now: data.now)
            }
        }
    }

    struct ResetLink: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-link",
            abstract: "Print a link for a user to choose a new password, once.",
            discussion: """
                Use it when a user has forgotten the password, or has none yet. The link is valid \
                for one day and ends an earlier link. When it is used, all sign-ins of the user \
                end. Send it so that only the user can read it.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Option(
            help: ArgumentHelp(
                "The address that clients use. Default: that of the running server.",
                valueName: "url"))
        var publicURL: String?

        func run() async throws {
            guard
                let base = publicURL ?? DataDirectory(data.directory).runningServer()?.address,
                JoinLink.isBaseURL(base)
            else {
                throw CommandFailure(
                    "Name the address that clients use with --public-url, such as "
                        + "https://records.example.org.")
            }
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let reset = try await data.accounts.makePasswordReset(
                    of: Text(name.user), now: data.now)
                print(reset.url(baseURL: base))
            }
        }
    }

    struct SignOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign-out", abstract: "End all sign-ins of a user.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let count = try await data.accounts.endSessions(
                    of: Text(name.user), now: data.now)
                print("Ended \(count) sign-ins.")
            }
        }
    }

    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the sign-ins and changes of an account, newest first.")

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                var table = Table(["time", "what", "newPlace", "address", "agent"])
                for event in try await data.accounts.events(of: Text(name.user)) {
                    table.add(
                        .time(event.milliseconds), .text(Text(event.kind.rawValue)),
                        .flag(event.isNewPlace), .text(event.address), .text(event.agent))
                }
                table.print(asJSON: json)
            }
        }
    }

    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write all data of a user into a directory.",
            discussion: """
                The directory gets account.json, the records of each zone as lines of JSON, and \
                the content of assets, named by SHA-256. You can export while the server runs.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @Argument(help: ArgumentHelp("A new or empty directory.", valueName: "directory"))
        var target: String

        func run() async throws {
            let configuration = data.configuration
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let summary = try await UserExport(
                    data.storage, try StorageFactory.openAssets(configuration), to: target
                ).run(Text(name.user), now: data.now)
                print(
                    "Exported \(summary.zones) zones, \(summary.records) records and "
                        + "\(summary.assets) assets to \(target).")
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a user with all private records, shares and credentials.",
            discussion: """
                The user leaves the shares of others. Records that the user created in public \
                databases and in zones of others stay.
                """)

        @OptionGroup var data: DataOptions
        @OptionGroup var name: Name
        @OptionGroup var consent: Consent

        func run() async throws {
            try await OpenedData.use(data) { (data) throws(ServerError) in
                let user = try await data.accounts.user(Text(name.user))
                let removal = try await data.accounts.removal(ofUser: Text(name.user))
                guard try consent.isGiven("the user \(user.emailAddress)", removal) else { return }
                _ = try await data.accounts.deleteUser(Text(name.user), now: data.now)
            }
        }
    }
}
