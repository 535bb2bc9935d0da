import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordServerCore
import RecordWire

/// The routes `/health` and `/metrics`.
struct OperationalRoutes: Sendable {
    let service: RecordService
    let metrics: ServerMetrics
    let configuration: ServerConfiguration

    func add(to routes: inout RouteTable) {
        routes.on("/health", .get) { _, context in
            context.facts.note { $0.endpoint = "health" }
            return try await health()
        }
        routes.on("/metrics", .get) { request, context in
            context.facts.note { $0.endpoint = "metrics" }
            guard mayReadMetrics(request, context) else {
                throw ServerError(
                    .accessDenied,
                    "Only this machine, or a client with the metrics token, may read the metrics.")
            }
            let text = metrics.text(gauges: await service.storage.gauges())
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
    }

    /// Reads the storage, because a server that cannot do that is of no use.
    private func health() async throws(ServerError) -> Response {
        do {
            _ = try await service.storage.read { (reader) throws(ServerError) in
                try reader.containers()
            }
        } catch {
            throw ServerError(.tryAgainLater, "The storage cannot be read.", retryAfter: 10)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"ok"}"#)))
    }

    private func mayReadMetrics(_ request: Request, _ context: HTTPContext) -> Bool {
        if let token = configuration.metricsToken {
            let given = Array((request.headers[.authorization] ?? "").utf8)
            return ConstantTime.equal(given, Array("Bearer \(token)".utf8))
        }
        // A proxy on this machine must not show the metrics to everybody.
        let isForwarded =
            request.headers.contains(.forwardedFor) || request.headers.contains(.via)
            || request.headers.contains(.forwarded)
        return !isForwarded && IPAddress.isLoopback(context.clientAddress)
    }
}
