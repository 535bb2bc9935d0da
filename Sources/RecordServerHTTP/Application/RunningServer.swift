import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import RecordWire
import ServiceLifecycle
import Synchronization

/// A server that listens.
package final class RunningServer: Sendable {
    /// The port at which it listens. It is the real one when the configuration says 0.
    package let port: Int
    private let group: ServiceGroup
    private let task: Task<Void, any Error>

    fileprivate init(port: Int, group: ServiceGroup, task: Task<Void, any Error>) {
        self.port = port
        self.group = group
        self.task = task
    }

    /// Stops accepting connections, lets running requests end within `stopSeconds` of the
    /// configuration, then breaks off the rest. Returns when no connection is left.
    package func stop() async throws {
        await group.triggerGracefulShutdown()
        try await wait()
    }

    /// Returns when the server has stopped.
    package func wait() async throws {
        do { try await task.value } catch is CancellationError {}
    }
}

extension ServerApplication {
    /// Listens at the configured address. Returns once connections are accepted.
    ///
    /// Errors: `tryAgainLater` when the address is not free or does not belong to this machine.
    package func start() async throws -> RunningServer {
        let (ports, portFound) = AsyncStream.makeStream(of: Int.self)
        let (root, logger, limits, metrics, tls) = (
            root, logger, configuration.limits, metrics, tls
        )
        let table = ConnectionTable(limits: limits, unlimited: configuration.trustedProxies)
        let builder = HTTPServerBuilder { responder in
            ConnectionChannel(
                responder: responder, limits: limits, table: table, metrics: metrics, tls: tls)
        }
        let server = try builder.buildServer(
            configuration: HummingbirdCore.ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: 1_024),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger,
            responder: { request, writer, channel in
                let response = await root.respond(
                    to: request, peer: channel.remoteAddress?.ipAddress ?? "", isTLS: tls != nil)
                try await writer.write(
                    response: response.head,
                    body: response.body.paced(for: channel, metrics: metrics))
            },
            onServerRunning: { channel in
                portFound.yield(channel.localAddress?.port ?? 0)
                portFound.finish()
            })
        var settings = ServiceGroupConfiguration(services: [server], logger: logger)
        settings.maximumGracefulShutdownDuration = .seconds(configuration.stopSeconds)
        let group = ServiceGroup(configuration: settings)
        let task = Task {
            defer { portFound.finish() }
            try await group.run()
        }
        var found = ports.makeAsyncIterator()
        guard let port = await found.next() else {
            var cause = "it was stopped"
            do { try await task.value } catch let error as IOError {
                cause = String(cString: strerror(error.errnoCode))
            } catch { cause = "\(error)" }
            throw configuration.cannotListen(cause)
        }
        return RunningServer(port: port, group: group, task: task)
    }
}
