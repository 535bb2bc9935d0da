import Glibc
package import Logging
package import RecordModel
import RecordServerCore
package import RecordServerHTTP
import RecordServerTLS
import RecordWire

/// A server on a data directory, from its lock to its last connection.
package struct ServerInstance: Sendable {
    /// The result of the first run. It is nil except for the first run on this directory.
    package let firstRun: FirstRun?
    /// The URL under which clients on this machine reach the server.
    package let baseURL: String
    package let running: RunningServer
    package let application: ServerApplication
    private let storage: any OperatedStorage
    private let tls: TLSContext?
    private let maintenance: Task<Void, Never>
    private let lock: DataDirectoryLock

    /// Opens the directory, makes everything that the first run needs, and listens.
    ///
    /// Errors are for the operator: another server has the directory, the address is taken, a
    /// file cannot be read.
    package static func start(
        _ configuration: ServerConfiguration, logger: Logger, clock: any WallClock = SystemClock()
    ) async throws -> ServerInstance {
        raiseFileLimit()
        let directory = DataDirectory(configuration.dataDirectory)
        try directory.make()
        let lock = try directory.lock()
        let storage = try StorageFactory.open(configuration, logger: logger)
        do {
            return try await start(configuration, storage, lock, logger, clock)
        } catch {
            try await storage.shutDown()
            throw error
        }
    }

    private static func start(
        _ configuration: ServerConfiguration, _ storage: any OperatedStorage,
        _ lock: DataDirectoryLock, _ logger: Logger, _ clock: any WallClock
    ) async throws -> ServerInstance {
        var tls: TLSContext?
        if let certificate = configuration.tlsCertificatePath, let key = configuration.tlsKeyPath {
            let context = try TLSContext(certificatePath: certificate, keyPath: key)
            warn(of: context, clock, logger)
            tls = context
        }
        let assets = try StorageFactory.openAssets(configuration)
        // This shows that the address is free before the first run, which shows its results only
        // once. Nobody can connect before that is done.
        let reservation = try AddressReservation(configuration)
        var configuration = configuration
        configuration.port = reservation.port
        configuration.site.logo = try DataDirectory(configuration.dataDirectory).logo()
        let firstRun = try await FirstRun.prepare(
            storage, container: Text(configuration.container), now: clock.now)
        let application = ServerApplication(
            configuration: configuration, storage: storage, assets: assets,
            seal: try await SealKey.read(storage), clock: clock, logger: logger, tls: tls)
        if configuration.isInsecure, !configuration.hasTLS, !configuration.listensAtLoopback {
            logger.warning(
                "plain HTTP is taken from other machines: passwords and tokens can be read on the way",
                metadata: ["address": "\(configuration.authority)"])
        }
        for warning in configuration.warnings {
            logger.warning("configuration", metadata: ["warning": "\(warning)"])
        }
        // An upload in progress could lose its file to this, so it runs before the server starts.
        try await assets.removeLeftovers()
        let running = try await application.start()
        reservation.release()
        let baseURL =
            configuration.publicURL
            ?? (tls == nil ? "http://" : "https://") + configuration.authority
        lock.note(address: baseURL)
        return ServerInstance(
            firstRun: firstRun, baseURL: baseURL,
            running: running, application: application, storage: storage, tls: tls,
            maintenance: Task { await Maintenance(application).run() }, lock: lock)
    }

    /// Stops the server. Long polls end at once with an empty answer, and other requests may finish
    /// in time. Then everything that is only in memory is written, and the storage is closed.
    package func stop() async throws {
        maintenance.cancel()
        application.service.push.shutdown()
        try await running.stop()
        await maintenance.value
        try await application.authenticator.flush(now: application.clock.now)
        try await storage.shutDown()
        lock.release()
    }

    /// Reads the certificate again. After an error, the old one stays in use.
    package func reload() {
        guard let tls else { return }
        do throws(ServerError) {
            try tls.reload()
            application.logger.notice("certificate read again")
            Self.warn(of: tls, application.clock, application.logger)
        } catch {
            application.logger.error("reload failed", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Writes to the log that clients refuse the certificate now.
    private static func warn(of tls: TLSContext, _ clock: any WallClock, _ logger: Logger) {
        guard let fault = tls.fault(at: clock.now.seconds) else { return }
        logger.warning("certificate", metadata: ["warning": "the certificate \(fault)"])
    }

    /// Raises the limit of open files. Each connection is a file, and the soft limit of most
    /// systems is lower than necessary.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
