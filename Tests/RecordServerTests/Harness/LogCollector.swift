import Logging
import Synchronization

/// Keeps what is logged.
final class LogCollector: Sendable {
    private let kept = Mutex<[String]>([])
    /// Message and metadata of each event, in one line.
    var lines: [String] { kept.withLock { $0 } }
    var text: String { lines.joined(separator: "\n") }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(collector: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let collector: LogCollector
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let pairs = metadata.merging(event.metadata ?? [:]) { $1 }
                .sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let line = ([event.message.description] + pairs).joined(separator: " ")
            collector.kept.withLock { $0.append(line) }
        }
    }
}
