import RecordModel
package import RecordServerCore

/// Everything that an operator can set, with its default.
package struct ServerConfiguration: Sendable, Equatable {
    /// The directory for the files of the storage, the assets and the lock.
    package var dataDirectory = ""
    package var storage = StorageKind.sqlite
    package var host = "127.0.0.1"
    /// The port, or 0 for any free one.
    package var port = 8080
    /// The container that the first run makes.
    package var container = "iCloud.org.recordfs.default"
    /// The scheme, host and port that clients use, without a slash at the end. Nil stands for this
    /// machine, or for the values of a trusted proxy.
    package var publicURL: String?
    /// The texts about the server on its pages. The logo is a file of the data directory.
    package var site = Site()
    /// Indicates whether the server accepts plain HTTP from other machines that are not trusted
    /// proxies.
    package var isInsecure = false
    /// The time for which browsers must use TLS only. With 0, browsers decide.
    package var hstsSeconds = 31_536_000
    /// The addresses and networks (`10.0.0.0/8`) of proxies whose X-Forwarded headers count.
    package var trustedProxies: [AddressRange] = []
    package var tlsCertificatePath: String?
    package var tlsKeyPath: String?
    /// The bearer token for /metrics. Without one, only the machine itself may read it.
    package var metricsToken: String?
    package var logFormat = LogFormat.text
    package var logLevel = LogLevel.info
    package var durability = Durability.full
    package var limits = HTTPLimits()
    package var rates = RateSettings()
    package var service = ServiceSettings()
    package var accounts = AccountSettings()
    package var push = PushSettings()
    /// The seconds between two rounds of cleaning up.
    package var maintenanceSeconds = 300
    /// The longest time that running requests may take when the server stops, in seconds.
    package var stopSeconds = 20

    package init() {}

    /// The account settings in use. By Apple's text a token is valid for one request, although its
    /// service accepts it longer.
    var effectiveAccounts: AccountSettings {
        var accounts = accounts
        if service.isStrict { accounts.graceSeconds = 0 }
        return accounts
    }

    package enum LogFormat: String, Sendable, CaseIterable {
        /// Logs `key=value` pairs.
        case text
        case json
    }

    package enum LogLevel: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The place where everything except the bytes of assets is stored.
    package enum StorageKind: String, Sendable, CaseIterable {
        /// One file in the data directory, for one server process.
        case sqlite
    }

    package enum Durability: String, Sendable, CaseIterable {
        case full, normal
    }
}

extension ServerConfiguration {
    /// Indicates whether only this machine can reach the address at which the server listens.
    package var listensAtLoopback: Bool { IPAddress.isLoopbackName(host) }
    package var hasTLS: Bool { tlsCertificatePath != nil }

    /// Returns whether the server accepts a request without TLS from `peer`: nobody can read it on
    /// its way, or the operator allows it.
    func takesPlainHTTP(from peer: String) -> Bool {
        isInsecure || IPAddress.isLoopback(peer) || trustedProxies.contains { $0.contains(peer) }
    }
}
