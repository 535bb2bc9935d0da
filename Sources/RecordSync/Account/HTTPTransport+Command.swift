import Dispatch
import Logging
import RecordModel
import Synchronization

extension HTTPTransport {
    /// Creates the transport of a command for the account of a store.
    ///
    /// With a recordfs-server the store's daemon may run meanwhile: the command shows the token of
    /// the file and takes no later one. By Apple's text each token is valid once. Then no other
    /// process may use the account, and the command saves the next token.
    package convenience init(
        ofCommand account: Account, stateDirectory: String
    ) {
        let file = AccountFile(stateDirectory: stateDirectory)
        let goesAlone = account.profile == .cloudkit
        let kept = Mutex(account.webAuthToken)
        let queue = DispatchQueue(label: "recordfs.command.account")
        let logger = Logger(label: "recordfs") { _ in SwiftLogNoOpLogHandler() }
        let tokens = WebTokens(account.webAuthToken, goesAlone: goesAlone) { token, done in
            guard goesAlone else { return done(.outdated) }
            queue.async { done(SyncService.keep(token, file, kept, logger)) }
        }
        let http = HTTPCall(authority: AuthorityFile(stateDirectory: stateDirectory).existing)
        self.init(account, over: http, tokens: tokens)
    }
}
