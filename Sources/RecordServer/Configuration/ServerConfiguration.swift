import RecordModel

/// Everything that an operator can set, with its default.
package struct ServerConfiguration: Sendable, Equatable {
    /// Holds what the storage keeps in files, the assets and the lock.
    package var dataDirectory = ""
    package var storage = StorageKind.sqlite
    package var host = "127.0.0.1"
    /// 0 for any free one.
    package var port = 8080
    /// Made by the first run.
    package var container = "iCloud.org.recordfs.default"
    /// Scheme, host and port that clients use, without a slash at the end. Nil: this machine, or
    /// what a trusted proxy says.
    package var publicURL: String?
    /// What pages show of the server; the logo is a file of the data directory.
    package var site = Site()
    /// Whether plain HTTP is taken from other machines, which are no trusted proxies.
    package var isInsecure = false
    /// For how long browsers shall use nothing but TLS; 0 for what they like.
    package var hstsSeconds = 31_536_000
    /// Addresses and networks (`10.0.0.0/8`) of proxies whose X-Forwarded headers count.
    package var trustedProxies: [AddressRange] = []
    package var tlsCertificatePath: String?
    package var tlsKeyPath: String?
    /// Bearer token for /metrics; without one only the machine itself may read it.
    package var metricsToken: String?
    package var logFormat = LogFormat.text
    package var logLevel = LogLevel.info
    package var durability = Durability.full
    package var limits = HTTPLimits()
    package var rates = RateSettings()
    package var service = ServiceSettings()
    package var accounts = AccountSettings()
    package var push = PushSettings()
    /// Seconds between two rounds of cleaning up.
    package var maintenanceSeconds = 300
    /// How long running requests may take when the server stops, in seconds.
    package var stopSeconds = 20

    package init() {}

    /// By Apple's text a token is good for one request, though its service takes it longer.
    var effectiveAccounts: AccountSettings {
        var accounts = accounts
        if service.isStrict { accounts.graceSeconds = 0 }
        return accounts
    }

    package enum LogFormat: String, Sendable, CaseIterable {
        /// `key=value` pairs.
        case text
        case json
    }

    package enum LogLevel: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// Where everything but the bytes of assets is kept.
    package enum StorageKind: String, Sendable, CaseIterable {
        /// One file in the data directory, for one server process.
        case sqlite
    }

    package enum Durability: String, Sendable, CaseIterable {
        case full, normal
    }
}

extension ServerConfiguration {
    /// Whether only this machine can reach the address at which the server listens.
    package var listensAtLoopback: Bool { IPAddress.isLoopbackName(host) }
    package var hasTLS: Bool { tlsCertificatePath != nil }

    /// Whether a request that comes without TLS from `peer` is safe from readers on its way, or
    /// taken all the same.
    func takesPlainHTTP(from peer: String) -> Bool {
        isInsecure || IPAddress.isLoopback(peer) || trustedProxies.contains { $0.contains(peer) }
    }
}

/// What a connection and a request may cost.
package struct HTTPLimits: Sendable, Equatable {
    /// Of the request line and all header fields, in bytes.
    package var headerBytes = 32 << 10
    package var headerFields = 100
    /// Body of an operation or a form, in bytes.
    package var bodyBytes = ServerLimits.requestBytes
    /// The same for callers without a user.
    package var anonymousBodyBytes = 64 << 10
    /// What all operations together may hold in bodies, values and answers, in bytes.
    package var memoryBytes = 32 << 20
    /// From the first byte of a request (or the start of the connection) to the end of its header.
    package var headerSeconds = 10
    /// For the whole body of an operation.
    package var bodySeconds = 30
    /// Between two bytes of an upload.
    package var uploadIdleSeconds = 30
    /// Between two requests of a connection.
    package var keepAliveSeconds = 75
    /// From the end of a request to the start of its answer; long polls have their own.
    package var answerSeconds = 120
    /// Without any progress while an answer is sent.
    package var writeIdleSeconds = 60
    package var connections = 2_000
    package var connectionsPerAddress = 1_000

    package init() {}
}

/// Token buckets: `burst` at once, `perSecond` in the long run; 0 for no limit.
package struct RateSettings: Sendable, Equatable {
    package struct Bucket: Sendable, Equatable {
        package var perSecond: Double
        package var burst: Double
        package init(perSecond: Double, burst: Double) {
            self.perSecond = perSecond
            self.burst = burst
        }
    }
    /// Of each user, over all connections.
    package var user = Bucket(perSecond: 200, burst: 2_000)
    /// Of each client address, for requests that no user is known for.
    package var address = Bucket(perSecond: 200, burst: 2_000)
    /// Of each user, for looking up and accepting short GUIDs.
    package var resolve = Bucket(perSecond: 2, burst: 100)

    package init() {}
}
