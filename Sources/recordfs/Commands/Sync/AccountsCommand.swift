import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore
import RecordSync
import RecordWire

struct AccountsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "List the account of each store.",
        discussion: """
            The command asks each server whether it still accepts the sign-in. It lists the \
            default store, the store that --state names, and the mounted stores. A store belongs \
            to one account, also after you sign out: use another store for another account.
            """)

    @OptionGroup var state: StateOptions
    @Flag(help: "Print one JSON object for each store.")
    var json = false

    func run() throws {
        var rows: [[String]] = []
        var isAnyUnread = false
        for store in try stores() {
            do throws(CommandFailure) {
                guard let (owner, state) = try Self.account(of: store) else { continue }
                if json {
                    Showing.jsonLine(Self.json(owner, of: store, state))
                } else {
                    rows.append([
                        store.directory, owner.server, owner.container, owner.environment,
                        owner.profile, owner.user, state.words,
                    ])
                }
            } catch {
                // A store that an earlier version has mounted, or that is damaged, does not prevent
                // the list of the others.
                Terminal.error("\(store.directory): \(error.message)")
                isAnyUnread = true
            }
        }
        if !json { Self.print(rows, isWhole: !isAnyUnread) }
        if isAnyUnread { throw CommandFailure(nil, "", status: ExitStatus.failure) }
    }

    /// Returns the account to which a store belongs. Returns nil for a store without an account.
    private static func account(
        of store: StoreAccess
    ) throws(CommandFailure) -> (StoreOwner, State)? {
        let account = try store.reporting { () throws(RecordError) in
            try AccountFile(stateDirectory: store.directory).read()
        }
        let owner = if let account { account.owner } else { try owner(of: store) }
        guard let owner else { return nil }
        return (owner, try state(of: account, in: store))
    }

    private static func print(_ rows: [[String]], isWhole: Bool) {
        if rows.isEmpty {
            guard isWhole else { return }
            Terminal.print("Nobody has signed in. recordfs login URL does.")
        } else {
            Terminal.printTable(
                [["STORE", "SERVER", "CONTAINER", "ENVIRONMENT", "PROFILE", "USER", "STATE"]]
                    + rows)
        }
    }

    private enum State {
        case signedIn
        case signedOut
        /// The server no longer accepts the sign-in.
        case ended
        /// Signed in on this machine. The server was not asked, or gave no answer.
        case unasked

        var words: String {
            switch self {
            case .signedIn: "signed in"
            case .signedOut: "signed out"
            case .ended: "ended by the server; recordfs login signs in again"
            case .unasked: "signed in; the server did not answer"
            }
        }
    }

    /// The longest time to wait for an answer of a server.
    private static let patience = Duration.seconds(5)

    private static func state(
        of account: Account?, in store: StoreAccess
    ) throws(CommandFailure) -> State {
        guard let account, account.isSignedIn else { return .signedOut }
        let authority = AuthorityFile(stateDirectory: store.directory).existing
        let answer = try LoginCommand.waiting(account.server) { () throws(SyncProblem) in
            await SignIn.state(
                of: account, over: HTTPCall(authority: authority), patience: patience)
        }
        switch answer {
        case .accepted: return .signedIn
        case .ended: return .ended
        case .unknown: return account.refusedMilliseconds == nil ? .unasked : .ended
        }
    }

    /// Returns the account to which the store belongs, also when its account.json is lost. Returns
    /// nil when there is no store.
    private static func owner(of store: StoreAccess) throws(CommandFailure) -> StoreOwner? {
        guard access(store.directory + "/store.sqlite", R_OK) == 0 else { return nil }
        let reader = try store.reader()
        return try store.reporting { () throws(RecordError) in try reader.owner() }
    }

    /// Returns all stores, each once.
    private func stores() throws(CommandFailure) -> [StoreAccess] {
        var stores = [StoreAccess(HostPaths.state), try state.access()]
        stores += MountTable.recordMounts().map(\.source).filter(Self.isOfCaller).map {
            StoreAccess($0)
        }
        var known: [StoreAccess] = []
        for store in stores
        where !known.contains(where: { HostDirectory.isSame($0.directory, store.directory) }) {
            known.append(store)
        }
        return known
    }

    /// Returns whether the store belongs to the caller. The mounts of a machine belong to many
    /// users, and each user may see only their own account.
    private static func isOfCaller(_ directory: String) -> Bool {
        access(AccountFile(stateDirectory: directory).path, R_OK) == 0
            || access(directory + "/store.sqlite", R_OK) == 0
    }

    /// Returns the account without its tokens. `accepted` is the server's answer. It is null when
    /// the server did not answer.
    private static func json(
        _ owner: StoreOwner, of store: StoreAccess, _ state: State
    ) -> JSONValue {
        let accepted: JSONValue =
            switch state {
            case .signedIn: .bool(true)
            case .ended: .bool(false)
            case .signedOut, .unasked: .null
            }
        return .members([
            "store": .text(store.directory), "server": .text(owner.server),
            "container": .text(owner.container), "environment": .text(owner.environment),
            "profile": .text(owner.profile), "user": .text(owner.user),
            "signedIn": .bool(state != .signedOut), "accepted": accepted,
        ])
    }
}
