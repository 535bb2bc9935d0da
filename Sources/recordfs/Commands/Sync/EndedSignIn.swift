import RecordControl
import RecordSync

/// A sign-in that this machine no longer has or needs, and what the server has made of it.
struct EndedSignIn {
    private let account: Account
    private let state: SignIn.State

    /// The longest time to wait for an answer of the server.
    private static let patience = Duration.seconds(10)

    /// Ends the sign-in at the server.
    init(_ account: Account, of store: StoreAccess) throws(CommandFailure) {
        self.account = account
        let authority = AuthorityFile(stateDirectory: store.directory).existing
        state = try LoginCommand.waiting(account.server) { () throws(SyncProblem) in
            await SignIn.end(
                account, over: HTTPCall(authority: authority), patience: Self.patience)
        }
    }

    /// Tells the user when the server still accepts the sign-in, or may do so, and how to end it.
    func tell() {
        guard state != .ended else { return }
        guard account.profile == .recordfs else {
            Terminal.error(
                "note: the server still has the sign-in, because Apple's protocol has no sign-out. "
                    + "It ends by itself when it is not used.")
            return
        }
        let reason =
            state == .unknown ? "could not be asked to end the sign-in" : "did not end the sign-in"
        Terminal.error(
            "note: the server \(reason), and still has it. End it at \(account.server)/sessions.")
    }
}
