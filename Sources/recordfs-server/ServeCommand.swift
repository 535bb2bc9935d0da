import ArgumentParser
import Glibc
import Logging
import RecordModel
import RecordServer
import RecordServerCore
import RecordServerHTTP
import RecordWire

/// `recordfs-server serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the record server.",
        discussion: """
            The first run creates the data directory, a container, an administrator and API \
            tokens, and prints them once. SIGTERM and SIGINT stop the server gracefully; SIGHUP \
            reloads the TLS certificate.

            The command line comes before the environment, the environment before the file, and \
            the file before the defaults. `recordfs-server configuration` prints a file with all \
            keys. The variable of a key is RECORDFS_SERVER_ and its name in capitals.
            """)

    @OptionGroup var data: DataOptions
    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        ProcessMemory.giveBackWhatIsFreed()
        ProcessMemory.watch()
        let configuration = try options.configuration(data: data)
        let clock = SystemClock()
        LoggingSystem.bootstrap { _ in
            ServerLog(
                format: configuration.logFormat, level: configuration.logLevel, clock: clock)
        }
        // A client that disconnects is an error of its connection, not of the process.
        signal(SIGPIPE, SIG_IGN)
        let signals = SignalStream([SIGTERM, SIGINT, SIGHUP])
        let server: ServerInstance
        do {
            server = try await ServerInstance.start(
                configuration, logger: Logger(label: "recordfs-server"))
        } catch let error as ServerError {
            throw CommandFailure(error)
        } catch let error as RecordError {
            throw CommandFailure(error.message)
        }
        if let firstRun = server.firstRun { print(firstRun.text(baseURL: server.baseURL)) }
        print("Listening at \(server.baseURL)")
        fflush(nil)
        for await signal in signals.stream {
            guard signal == SIGHUP else { break }
            server.reload()
        }
        try await server.stop()
    }
}

/// `recordfs-server configuration`
struct ConfigurationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "configuration",
        abstract: "Print a configuration file with all keys and their defaults.",
        discussion: """
            With --check, the command reads the file, the variables and the options as `serve` \
            does. It prints the errors, and then ends with status 1. It creates and changes \
            nothing.
            """)

    @OptionGroup var data: DataOptions
    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Check the configuration instead.")
    var check = false

    func run() throws {
        guard check else {
            print(ConfigurationReader.sample, terminator: "")
            return
        }
        let findings = ConfigurationCheck.findings(try options.configuration(data: data))
        for finding in findings {
            print("\(finding.grade.rawValue): \(finding.what): \(finding.detail)")
        }
        if findings.contains(where: { $0.grade == .bad }) { throw ExitCode(1) }
    }
}
