import Glibc
package import Logging
package import RecordModel
package import RecordServerHTTP

/// Writes one line for each event to standard error: `key=value` pairs, or an object of JSON.
package struct ServerLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel: Logger.Level
    private let format: ServerConfiguration.LogFormat
    private let clock: any WallClock

    package init(
        format: ServerConfiguration.LogFormat, level: ServerConfiguration.LogLevel,
        clock: any WallClock
    ) {
        self.format = format
        self.clock = clock
        logLevel = Logger.Level(rawValue: level.rawValue) ?? .info
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        Self.write(line(of: event))
    }

    /// Returns the line without its end.
    package func line(of event: LogEvent) -> [UInt8] {
        var fields: [(String, Logger.MetadataValue)] = [
            ("time", "\(ISO8601.print(milliseconds: clock.now.nanoseconds / 1_000_000))"),
            ("level", "\(event.level.rawValue)"), ("message", "\(event.message)"),
        ]
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        fields += all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return format == .json ? Self.json(fields) : Self.text(fields)
    }

    private static func json(_ fields: [(String, Logger.MetadataValue)]) -> [UInt8] {
        let members = fields.map { key, value in
            JSONMember(
                key: Text(key), value: value.number.map { JSONValue($0) } ?? JSONValue("\(value)"))
        }
        return JSONValue.object(members).serialized()
    }

    /// Returns the line as text. A value with spaces, quotes or controls is written as a string of
    /// JSON.
    static func text(_ fields: [(String, Logger.MetadataValue)]) -> [UInt8] {
        var line: [UInt8] = []
        for (key, value) in fields.map({ ($0, "\($1)") }) {
            if !line.isEmpty { line.append(0x20) }
            line += Array(key.utf8) + [UInt8(ascii: "=")]
            let isPlain =
                !value.isEmpty
                && value.utf8.allSatisfy {
                    $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=")
                }
            line += isPlain ? Array(value.utf8) : JSONValue(value).serialized()
        }
        return line
    }

    /// Writes the line in one call, so that lines of several threads do not mix.
    private static func write(_ line: [UInt8]) {
        let bytes = line + [0x0A]
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}

extension Logger.MetadataValue {
    fileprivate var number: Int64? {
        guard case .stringConvertible(let value) = self else { return nil }
        return value as? Int64
    }
}
