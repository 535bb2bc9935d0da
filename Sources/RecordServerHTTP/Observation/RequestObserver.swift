import HTTPTypes
import HummingbirdCore
import Logging
import RecordWire

/// Reports each request to the log and the metrics.
struct RequestObserver: Sendable {
    let logger: Logger
    let metrics: ServerMetrics

    func note(
        _ request: Request, _ context: HTTPContext, status: Int, bytesOut: Int?,
        duration: Duration
    ) {
        let facts = context.facts.current
        metrics.note(facts, status: status, bytesOut: bytesOut, duration: duration)
        var metadata: Logger.Metadata = [
            "id": "\(context.requestID)", "method": "\(request.method.rawValue)",
            "endpoint": "\(facts.endpoint)", "status": .number(status),
            "ms": .number(duration.milliseconds), "in": .number(facts.bytesIn),
            "address": "\(context.clientAddress)",
        ]
        if let bytesOut { metadata["out"] = .number(bytesOut) }
        if let container = facts.container { metadata["container"] = "\(container)" }
        if let scope = facts.scope { metadata["scope"] = "\(scope.rawValue)" }
        if let user = facts.user { metadata["user"] = "\(user)" }
        if let code = facts.code { metadata["code"] = "\(code.rawValue)" }
        logger.info("request", metadata: metadata)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down.
    var milliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}
