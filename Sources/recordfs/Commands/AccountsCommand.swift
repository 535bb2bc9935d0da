import ArgumentParser
import Glibc
import RecordControl
import RecordModel
import RecordSync
import RecordWire

struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List who is signed in where, for each store.",
        discussion: """
            The stores are the default one, that of --state, and those that are mounted. A store is of \
            one account, also after signing out; another account gets a store of its own.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "One JSON object for each store.")
    var json = false

    func run() throws {
        var rows: [[String]] = []
        for store in try stores() {
            let account = try store.reporting { () throws(RecordError) in
                try AccountFile(stateDirectory: store.directory).read()
            }
            guard let account else { continue }
            if json {
                Showing.jsonLine(Self.json(account, of: store))
            } else {
                rows.append([
                    store.directory, account.server, account.container.string,
                    account.environment.rawValue, account.profile.rawValue,
                    account.user.description,
                    account.isSignedIn ? "signed in" : "signed out",
                ])
            }
        }
        guard !json else { return }
        if rows.isEmpty {
            Terminal.print("Nobody has signed in. recordfs login URL does.")
        } else {
            Terminal.printTable(
                [["STORE", "SERVER", "CONTAINER", "ENVIRONMENT", "PROFILE", "USER", "STATE"]]
                    + rows)
        }
    }

    /// Each once.
    private func stores() throws(CommandFailure) -> [StoreAccess] {
        var stores = [StoreAccess(Places.state), try state.access()]
        stores += MountTable.recordMounts().map(\.source).filter(Self.isOfCaller).map {
            StoreAccess($0)
        }
        var known: [StoreAccess] = []
        for store in stores
        where !known.contains(where: { StoreAccess.isSame($0.directory, store.directory) }) {
            known.append(store)
        }
        return known
    }

    /// The mounts of a machine are of many users, and an account is for nobody else's eyes.
    private static func isOfCaller(_ directory: String) -> Bool {
        access(AccountFile(stateDirectory: directory).path, R_OK) == 0
    }

    /// Without its tokens.
    private static func json(_ account: Account, of store: StoreAccess) -> JSONValue {
        .members([
            "store": .text(store.directory), "server": .text(account.server),
            "container": .string(account.container),
            "environment": .text(account.environment.rawValue),
            "profile": .text(account.profile.rawValue),
            "user": .text(account.user.description), "signedIn": .bool(account.isSignedIn),
        ])
    }
}
