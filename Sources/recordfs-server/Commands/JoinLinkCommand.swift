import ArgumentParser
import FoundationEssentials
import RecordModel
import RecordServer
import RecordServerCore
import RecordWire

/// `recordfs-server join-link`
struct JoinLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join-link",
        abstract: "Create an API token and print a link that contains it.",
        discussion: """
            `recordfs login LINK` reads the address, the container and the token from the link. \
            The command prints the link once. The link gives no access: people still sign in with \
            an e-mail address and a password. The part after # is sent to no server and is in no \
            log.
            """)

    @OptionGroup var data: DataOptions
    @OptionGroup var container: ContainerName
    @OptionGroup var environment: EnvironmentOption
    @Option(help: "The name that people see when they sign in.")
    var name = "RecordFS"
    @Option(
        help: ArgumentHelp(
            "The address that clients use. Default: the running server's.", valueName: "url"))
    var publicURL: String?
    @Option(help: "Use this existing token instead of a new one.")
    var token: String?

    func run() async throws {
        let base = try address()
        try await OpenedData.use(data) { (data) throws(ServerError) in
            let key = ContainerKey(
                container: container.text, environment: environment.environment)
            let secret: Text
            if let token {
                secret = Text(token)
                try await data.accounts.requireAPIToken(secret, of: key)
            } else {
                secret = try await data.accounts.createAPIToken(
                    key, name: Text(name), callbackURL: CallbackURL.loopback, now: data.now
                ).token
            }
            print(JoinLink(baseURL: base, container: key, token: secret).text)
        }
    }

    private func address() throws -> String {
        let variable = ProcessInfo.processInfo.environment["RECORDFS_SERVER_PUBLIC_URL"] ?? ""
        let named = publicURL ?? (variable.isEmpty ? nil : variable)
        let running = DataDirectory(data.directory).runningServer()?.address
        guard let address = named ?? running else {
            throw CommandFailure(
                "The server does not run: name the address that clients use with --public-url.")
        }
        guard JoinLink.isBaseURL(address) else {
            throw CommandFailure(
                "\(address) is not http:// or https:// with a host and perhaps a port.")
        }
        return address
    }
}
