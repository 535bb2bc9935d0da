import ArgumentParser
import FoundationEssentials
import RecordServer
import RecordServerHTTP

/// The options of the command line for the configuration.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file. Default: $RECORDFS_SERVER_CONFIG, else none.",
            valueName: "file"))
    var config: String?
    @Option(
        help: ArgumentHelp("The address to use (127.0.0.1:8080).", valueName: "host:port"))
    var listen: String?
    @Option(help: ArgumentHelp("The container that the first run creates.", valueName: "name"))
    var container: String?
    @Option(help: ArgumentHelp("The address that clients use.", valueName: "url"))
    var publicURL: String?
    @Option(help: ArgumentHelp("The name of the server on its pages.", valueName: "text"))
    var name: String?
    @Option(
        name: .customLong("operator"),
        help: ArgumentHelp("The operator of the server, shown on its pages.", valueName: "text"))
    var operatorName: String?
    @Option(help: ArgumentHelp("PEM file of the certificate chain.", valueName: "file"))
    var tlsCertificate: String?
    @Option(help: ArgumentHelp("PEM file of the private key.", valueName: "file"))
    var tlsKey: String?
    @Option(
        help: ArgumentHelp(
            "Proxies whose X-Forwarded headers are trusted.", valueName: "addresses"))
    var trustedProxies: String?
    @Option(help: ArgumentHelp("`text` or `json`.", valueName: "format"))
    var logFormat: String?
    @Flag(help: "Accept plain HTTP from other machines, which others on the network can read.")
    var insecure = false
    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set any key of the configuration.", valueName: "key=value"))
    var settings: [String] = []

    /// Returns the whole configuration. A mistake ends the command with a message about it.
    func configuration(data: DataOptions) throws -> ServerConfiguration {
        var reader = ConfigurationReader()
        do throws(ConfigurationError) {
            let variables = ProcessInfo.processInfo.environment
            let file = variables[ConfigurationReader.fileVariable].flatMap { $0.isEmpty ? nil : $0 }
            if let path = config ?? file {
                try reader.readFile(try Self.read(path), name: path)
            }
            try reader.readEnvironment(variables)
            for (key, value) in flags {
                if let value { try reader.set(key, value, place: "--\(key)") }
            }
            for setting in settings {
                guard let equals = setting.firstIndex(of: "=") else {
                    throw ConfigurationError("--set \(setting): write `key=value`.")
                }
                try reader.set(
                    String(setting[..<equals]),
                    String(setting[setting.index(after: equals)...]), place: "--set")
            }
            // The option of the other commands has the highest precedence, and their default the
            // lowest.
            if let directory = data.data ?? Self.missing(reader, data) {
                try reader.set("data", directory, place: "--data")
            }
            try reader.check()
        } catch {
            throw CommandFailure(error.description)
        }
        return reader.configuration
    }

    private var flags: [(key: String, value: String?)] {
        [
            ("listen", listen), ("container", container), ("public-url", publicURL),
            ("name", name), ("operator", operatorName),
            ("tls-certificate", tlsCertificate), ("tls-key", tlsKey),
            ("trusted-proxies", trustedProxies), ("log-format", logFormat),
            ("insecure", insecure ? "true" : nil),
        ]
    }

    private static func missing(_ reader: ConfigurationReader, _ data: DataOptions) -> String? {
        reader.configuration.dataDirectory.isEmpty ? data.directory : nil
    }

    private static func read(_ path: String) throws(ConfigurationError) -> String {
        do {
            return String(decoding: try InputFile.read(path, limit: 1 << 20), as: UTF8.self)
        } catch {
            throw ConfigurationError("The configuration file cannot be read: \(error)")
        }
    }
}
