import RecordControl
import RecordModel
import RecordSync

/// The requests of a command to the server of a store's account.
struct AccountSession {
    let account: Account
    let store: StoreAccess
    let transport: HTTPTransport

    /// Errors: nobody is signed in.
    init(_ store: StoreAccess) throws(CommandFailure) {
        let file = AccountFile(stateDirectory: store.directory)
        let known = try store.reporting { () throws(RecordError) in try file.read() }
        guard let known, known.isSignedIn else {
            throw CommandFailure(
                store.subject(nil), "nobody is signed in to a server. recordfs login does that.")
        }
        account = known
        self.store = store
        transport = HTTPTransport(ofCommand: known, stateDirectory: store.directory)
    }

    /// Runs the body while no other process uses the account, where each token is valid once.
    func exclusively(_ body: () throws -> Void) throws {
        guard account.profile == .cloudkit else { return try body() }
        try store.write { writer in
            guard case .direct = writer else {
                throw CommandFailure(
                    store.subject(nil),
                    "the store is mounted, and its server takes requests of one program at a time. "
                        + "Unmount first.")
            }
            try body()
        }
    }

    /// Waits for the body. A refusal of the server becomes the failure of the command.
    func waiting<Result: Sendable>(
        _ body: @escaping @Sendable (HTTPTransport) async throws(SyncProblem) -> Result
    ) throws(CommandFailure) -> Result {
        let transport = transport
        return try LoginCommand.waiting(account.server) { () async throws(SyncProblem) in
            try await body(transport)
        }
    }
}
