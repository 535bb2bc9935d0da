import ArgumentParser
import Glibc
import RecordControl
import RecordDaemon
import RecordModel
import RecordStore
import RecordSync
import RecordWire

struct LoginCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login", abstract: "Sign in to a record server, and sync with it.",
        discussion: """
            The command prints the address of the server's sign-in page, opens it in a browser if \
            there is one, and waits until you have signed in there. With --user it asks for the \
            password here. Then the records of this store are uploaded, and the records of the \
            account are downloaded; local/ stays on this machine.

            The operator may give you a join link, \
            https://records.example.org/join#container=...&token=.... It contains the address, the \
            container and the API token. A store that was signed in before knows all of these: \
            then recordfs login is enough.
            """)

    @OptionGroup var state: StateOptions
    @Argument(
        help: """
            The address of the server, such as https://records.example.org, or a join link; by \
            default the address in config.json, or that of the last sign-in.
            """
    )
    var server: String?
    @Option(help: "The container on the server; iCloud.org.recordfs.default by default.")
    var container: String?
    @Option(help: "development (the default) or production.")
    var environment: String?
    @Option(
        help: """
            recordfs for a recordfs-server; cloudkit for a server that follows only Apple's \
            reference: one request at a time, and nested JSON is refused.
            """)
    var profile: ServerProfile?
    @Option(
        help: """
            The sign-in callback of the API token, if the server does not accept every address of \
            this machine: http://127.0.0.1:PORT/PATH.
            """)
    var callback: String?
    @Option(
        help: """
            The API token of the container. Ask the operator of the server for it. You can also \
            set RECORDFS_API_TOKEN, which other users of the machine cannot see.
            """)
    var apiToken: String?
    @Option(
        help: ArgumentHelp(
            "Also trust the certificates in this PEM file, besides those of the system.",
            valueName: "file"), completion: .file())
    var caFile: String?
    @Option(help: "Sign in with this e-mail address and a password, without a browser.")
    var user: String?
    @Flag(help: "Read the password from standard input.")
    var passwordStdin = false

    func run() throws {
        let access = try state.access()
        let configured = try access.settings().account
        let file = AccountFile(stateDirectory: access.directory)
        let known = try access.reporting { () throws(RecordError) in try file.read() }
        var account = try account(configured, known)
        // The account belongs to a store, which may be new.
        try access.write { _ in }
        let authority = AuthorityFile(stateDirectory: access.directory)
        if let caFile {
            try reporting(caFile) { () throws(RecordError) in
                try HTTPCall.checkAuthority(caFile)
                try copyFile(caFile, to: authority.path)
            }
        }
        let http = HTTPCall(authority: authority.existing)
        let signIn = SignIn(account, over: http)
        let token: Text
        if let user = user ?? configured.user {
            let password = try Self.password(isFromInput: passwordStdin)
            token = try Self.waiting(account.server) { () throws(SyncProblem) in
                try await signIn.webAuthToken(eMail: user, password: password)
            }
        } else {
            token = try Self.tokenFromBrowser(signIn, account.server, callback)
        }
        account.webAuthToken = token
        let last: Account?
        do {
            (account.user, account.webAuthToken) = try Self.waiting(account.server) {
                () throws(SyncProblem) in try await signIn.user(of: token)
            }
            last = try Self.keep(account, configured, file, access)
        } catch {
            // Nobody could use the sign-in, or end it from here.
            try EndedSignIn(account, of: access).tell()
            throw error
        }
        try Self.accountHasChanged(access, last)
        Terminal.print("Signed in to \(account.server) as \(account.user).")
    }

    /// Returns the account that the arguments name. Values that they leave out are those of the
    /// join link, of config.json, or of the last sign-in to this server.
    private func account(
        _ configured: ConfiguredAccount, _ last: Account?
    ) throws(CommandFailure) -> Account {
        let link = try server.flatMap { text throws(CommandFailure) in try JoinAddress(text) }
        guard var server = link?.server ?? server ?? configured.server ?? last?.server else {
            throw CommandFailure(
                nil, "needs the server's address: recordfs login https://records.example.org.",
                status: ExitStatus.usage)
        }
        while server.hasSuffix("/") { server.removeLast() }
        guard server.hasPrefix("https://") || server.hasPrefix("http://") else {
            throw CommandFailure(
                server, "the address begins with https:// or http://.", status: ExitStatus.usage)
        }
        let last = last?.server == server ? last : nil
        let container =
            container ?? link?.container ?? configured.container ?? last?.container.string
            ?? "iCloud.org.recordfs.default"
        let name =
            self.environment ?? link?.environment ?? configured.environment
            ?? last?.environment.rawValue ?? "development"
        guard let environment = ServerEnvironment(rawValue: name) else {
            throw CommandFailure(
                name, "the environment is development or production.", status: ExitStatus.usage)
        }
        let isSame = last?.container.string == container && last?.environment == environment
        let known = isSame ? last?.apiToken.string : nil
        guard
            let token = apiToken ?? link?.token ?? environmentVariable("RECORDFS_API_TOKEN")
                ?? known
        else { throw Self.missingToken(server) }
        return Account(
            server: server, container: Text(container), environment: environment,
            apiToken: Text(token), webAuthToken: "", user: UserName(bytes: []),
            profile: profile ?? last?.profile ?? .recordfs)
    }

    private static func missingToken(_ server: String) -> CommandFailure {
        CommandFailure(
            server,
            "needs the container's API token: a join link, --api-token, or RECORDFS_API_TOKEN. The operator "
                + "of the server makes one with recordfs-server token create --callback "
                + "\(SignIn.callbackOfToken), and the first start of a server prints two.",
            status: ExitStatus.usage)
    }

    /// Saves the account, if it is the one of this store and of config.json.
    ///
    /// - Returns: the account that was saved before.
    private static func keep(
        _ account: Account, _ configured: ConfiguredAccount, _ file: AccountFile,
        _ access: StoreAccess
    ) throws -> Account? {
        try access.reporting(account.server) { () throws(RecordError) in
            try configured.check(account)
            try file.read()?.owner.check(account.owner)
        }
        try bind(access, to: account)
        return try access.reporting(account.server) { () throws(RecordError) in
            var last: Account?
            try file.update { (current) throws(RecordError) in
                try current?.owner.check(account.owner)
                last = current
                current = account
            }
            return last
        }
    }

    /// Tells the daemon of the store that account.json has changed, and ends the sign-in that the
    /// file no longer has. It ends whatever the daemon says, because nobody here could end it later.
    ///
    /// - Parameter last: the account that was in the file before.
    static func accountHasChanged(
        _ access: StoreAccess, _ last: Account?
    ) throws(CommandFailure) {
        let told = Result { () throws(CommandFailure) in
            try access.reporting { () throws(RecordError) in
                let daemon = try ControlClient.connect(
                    directory: access.directory, timeoutSeconds: 30)
                _ = try daemon?.perform(.verb(.account))
            }
        }
        if let last, last.isSignedIn { try EndedSignIn(last, of: access).tell() }
        try told.get()
    }

    /// Makes the account the owner of the store. A store belongs to one account, also after signing
    /// out, and when account.json is lost.
    private static func bind(_ access: StoreAccess, to account: Account) throws {
        let isBound = try access.write { writer in
            guard case .direct(let store, _) = writer else { return false }
            try access.reporting(account.server) { () throws(RecordError) in
                try store.setOwner(account.owner)
            }
            return true
        }
        if isBound { return }
        // The daemon that has the store writes the account down when it is notified of it.
        let store = try access.reader()
        try access.reporting(account.server) { () throws(RecordError) in
            try store.owner()?.check(account.owner)
        }
    }

    private static func tokenFromBrowser(
        _ signIn: SignIn, _ server: String, _ address: String?
    ) throws(CommandFailure) -> Text {
        let callback = try reporting { () throws(RecordError) in try SignInCallback(address) }
        let url = callback.url
        let page = try waiting(server) { () throws(SyncProblem) in
            try await signIn.page(callback: url)
        }
        Terminal.print("Sign in here:\n\n    \(page)\n")
        Browser.open(page)
        return try reporting(server) { () throws(RecordError) in try callback.wait() }
    }

    private static func password(isFromInput: Bool) throws(CommandFailure) -> [UInt8] {
        if !isFromInput, isatty(0) == 1 {
            guard let line = getpass("Password: ") else {
                throw CommandFailure(nil, "no password could be read.")
            }
            return Array(String(cString: line).utf8)
        }
        return Array((readLine() ?? "").utf8)
    }

    /// Waits for the body. A refusal of the server becomes the failure of the command.
    static func waiting<Result: Sendable>(
        _ server: String,
        _ body: @escaping @Sendable () async throws(SyncProblem) -> Result
    ) throws(CommandFailure) -> Result {
        let box = ResultBox<Swift.Result<Result, SyncProblem>>()
        Task {
            do throws(SyncProblem) {
                box.put(.success(try await body()))
            } catch {
                box.put(.failure(error))
            }
        }
        switch box.take() {
        case .success(let result): return result
        case .failure(let problem): throw CommandFailure(server, "\(problem)")
        }
    }
}

extension ServerProfile: ExpressibleByArgument {}
