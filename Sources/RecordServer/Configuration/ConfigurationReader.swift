import RecordModel

/// A mistake in the configuration, for the operator.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Puts a configuration together: defaults, then the file, then the environment, then the command
/// line. Whoever comes later wins.
package struct ConfigurationReader {
    package private(set) var configuration = ServerConfiguration()

    package init() {}

    /// `key = value` a line; empty lines and those that begin with `#` are passed over.
    ///
    /// Errors name the file, the line and the key.
    package mutating func readFile(_ text: String, name: String) throws(ConfigurationError) {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        var seen: Set<String> = []
        for (index, line) in lines.enumerated() {
            let line = Self.trimmed(line)
            guard !line.isEmpty, line.first != "#" else { continue }
            let place = "\(name):\(index + 1)"
            guard let equals = line.firstIndex(of: "=") else {
                throw ConfigurationError("\(place): write `key = value`.")
            }
            let key = Self.trimmed(line[..<equals])
            guard seen.insert(key).inserted else {
                throw ConfigurationError("\(place): `\(key)` is set twice.")
            }
            try set(key, Self.trimmed(line[line.index(after: equals)...]), place: place)
        }
    }

    /// Variables that are empty count as not there. `RECORDFS_SERVER_CONFIG`, which names the file,
    /// is none of them.
    package mutating func readEnvironment(_ variables: [String: String])
        throws(ConfigurationError)
    {
        let keys = Dictionary(
            ConfigurationKey.all.map { ($0.environmentName, $0.name) }, uniquingKeysWith: { $1 })
        for (variable, text) in variables.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix("RECORDFS_SERVER_") && variable != Self.fileVariable {
            guard !text.isEmpty else { continue }
            guard let key = keys[variable] else {
                throw ConfigurationError(
                    "\(variable): there is no such key. `recordfs-server configuration` prints "
                        + "all; the variable of a key is its name in capitals.")
            }
            try set(key, text, place: variable)
        }
    }

    /// Names the file.
    package static let fileVariable = "RECORDFS_SERVER_CONFIG"

    /// One value of the command line, or of a program.
    package mutating func set(_ name: String, _ value: String, place: String)
        throws(ConfigurationError)
    {
        guard let key = ConfigurationKey.named(name) else {
            throw ConfigurationError(
                "\(place): there is no key `\(name)`. `recordfs-server configuration` prints all.")
        }
        guard key.apply(&configuration, value) else {
            throw ConfigurationError(
                "\(place): this is no value for `\(name)`. \(key.explanation)")
        }
    }

    /// What no single key can tell.
    package func check() throws(ConfigurationError) {
        let tls = [configuration.tlsCertificatePath, configuration.tlsKeyPath].compactMap { $0 }
        guard tls.count != 1 else {
            throw ConfigurationError("`tls-certificate` and `tls-key` go together.")
        }
        try checkReach()
    }

    /// What may be missing as long as only this machine can connect.
    private func checkReach() throws(ConfigurationError) {
        guard !configuration.listensAtLoopback else { return }
        let isSafe = configuration.hasTLS || !configuration.trustedProxies.isEmpty
        guard isSafe || configuration.isInsecure else {
            throw ConfigurationError(
                "Other machines can connect to \(configuration.authority), and whoever is on the way "
                    + "would read passwords and tokens. Give `tls-certificate` and `tls-key`; or "
                    + "listen at 127.0.0.1 behind a proxy; or name the proxy in `trusted-proxies`; "
                    + "or say --insecure.")
        }
        guard configuration.publicURL != nil else {
            throw ConfigurationError(
                "`public-url` is missing: other machines can connect to \(configuration.authority), "
                    + "and only you know the name that they use, such as "
                    + "https://records.example.org.")
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }

    /// A file with every key, its meaning and its default, all commented out.
    package static var sample: String {
        let defaults = ServerConfiguration()
        var lines = [
            "# recordfs-server: `key = value` a line. The environment ($RECORDFS_SERVER_KEY_NAME)",
            "# and the command line (--set key=value) count more than this file.",
        ]
        for key in ConfigurationKey.all {
            lines += ["", "# \(key.explanation)", "#\(key.name) = \(key.show(defaults))"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
