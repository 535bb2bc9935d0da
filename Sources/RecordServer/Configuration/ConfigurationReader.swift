import RecordModel
package import RecordServerHTTP

/// A mistake in the configuration, for the operator.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Reads the configuration from defaults, then the file, then the environment, then the command
/// line. A later value replaces an earlier one.
package struct ConfigurationReader {
    package private(set) var configuration = ServerConfiguration()

    package init() {}

    /// Reads a file with `key = value` in each line. Empty lines and those that begin with `#` are
    /// ignored.
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

    /// Reads the variables. An empty variable counts as missing. `RECORDFS_SERVER_CONFIG`, which
    /// names the file, is not a setting.
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

    /// The variable that names the file.
    package static let fileVariable = "RECORDFS_SERVER_CONFIG"

    /// Sets one value from the command line, or from a program.
    package mutating func set(_ name: String, _ value: String, place: String)
        throws(ConfigurationError)
    {
        guard let key = ConfigurationKey.named(name) else {
            throw ConfigurationError(
                "\(place): there is no key `\(name)`. `recordfs-server configuration` prints all.")
        }
        guard key.apply(&configuration, value) else {
            throw ConfigurationError(
                "\(place): `\(value)` is no value for `\(name)`. \(key.explanation)")
        }
    }

    /// Checks the conditions that involve more than one key.
    package func check() throws(ConfigurationError) {
        let tls = [configuration.tlsCertificatePath, configuration.tlsKeyPath].compactMap { $0 }
        guard tls.count != 1 else {
            throw ConfigurationError("`tls-certificate` and `tls-key` go together.")
        }
        try checkReach()
    }

    /// Checks the settings that may be missing only while no other machine can connect.
    private func checkReach() throws(ConfigurationError) {
        guard !configuration.listensAtLoopback else { return }
        let isSafe = configuration.hasTLS || !configuration.trustedProxies.isEmpty
        guard isSafe || configuration.isInsecure else {
            throw ConfigurationError(
                "Other machines can connect to \(configuration.authority), and others on the "
                    + "network could read passwords and tokens. Give `tls-certificate` and `tls-key`; or "
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

    /// The text of a file with every key, its meaning and its default, all commented out.
    package static var sample: String {
        let defaults = ServerConfiguration()
        var lines = [
            "# recordfs-server: one `key = value` per line. The environment",
            "# ($RECORDFS_SERVER_KEY_NAME) and the command line (--set key=value) override this file.",
        ]
        for key in ConfigurationKey.all {
            lines += ["", "# \(key.explanation)", "#\(key.name) = \(key.show(defaults))"]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
