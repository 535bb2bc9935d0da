import RecordServerCore
import RecordServerHTTP

/// One setting of an operator: its name in the file, its meaning, and the way to read it.
///
/// The environment variable of a key is its name in capitals, with `_` for `-`, after
/// `RECORDFS_SERVER_`. On the command line it is `--set NAME=VALUE`.
package struct ConfigurationKey: Sendable {
    package let name: String
    package let explanation: String
    /// Stores the value. Returns false when it is not valid for this key.
    let apply: @Sendable (inout ServerConfiguration, String) -> Bool
    /// Returns the value as a file would have it.
    let show: @Sendable (ServerConfiguration) -> String

    package var environmentName: String {
        "RECORDFS_SERVER_" + name.uppercased().map { $0 == "-" ? "_" : $0 }
    }

    package static func named(_ name: String) -> ConfigurationKey? {
        all.first { $0.name == name }
    }

    static func text(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, String> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            $0[keyPath: field] = $1
            return !$1.isEmpty
        } show: {
            $0[keyPath: field]
        }
    }

    /// Makes a key whose value may be empty, which stands for none.
    static func optional(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, String?> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            $0[keyPath: field] = $1.isEmpty ? nil : $1
            return true
        } show: {
            $0[keyPath: field] ?? ""
        }
    }

    /// Makes a key for one short line for people. An empty value stands for none.
    static func name(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, String?> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            $0[keyPath: field] = $1.isEmpty ? nil : $1
            return $1.isEmpty || PageTitle.isWellFormed($1)
        } show: {
            $0[keyPath: field] ?? ""
        }
    }

    static func number<Number: FixedWidthInteger & Sendable & SendableMetatype>(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, Number> & Sendable,
        _ range: ClosedRange<Number>, _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            guard let number = Number($1), range.contains(number) else { return false }
            $0[keyPath: field] = number
            return true
        } show: {
            String($0[keyPath: field])
        }
    }

    /// Makes a key for a number of bytes, which may have a unit: `5G`.
    static func bytes<Number: FixedWidthInteger & Sendable & SendableMetatype>(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, Number> & Sendable,
        _ range: ClosedRange<Number>, _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            guard let size = ByteSize.parse($1), let number = Number(exactly: size),
                range.contains(number)
            else { return false }
            $0[keyPath: field] = number
            return true
        } show: {
            String($0[keyPath: field])
        }
    }

    static func rate(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, Double> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            guard let number = Double($1), (0...1e9).contains(number) else { return false }
            $0[keyPath: field] = number
            return true
        } show: {
            let value = $0[keyPath: field]
            return value == value.rounded() ? String(Int64(value)) : String(value)
        }
    }

    static func flag(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, Bool> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey {
        ConfigurationKey(name: name, explanation: explanation) {
            guard let value = ["true": true, "false": false][$1] else { return false }
            $0[keyPath: field] = value
            return true
        } show: {
            $0[keyPath: field] ? "true" : "false"
        }
    }

    static func choice<
        Choice: RawRepresentable & CaseIterable & Sendable & SendableMetatype
    >(
        _ name: String, _ field: any WritableKeyPath<ServerConfiguration, Choice> & Sendable,
        _ explanation: String
    ) -> ConfigurationKey where Choice.RawValue == String {
        ConfigurationKey(name: name, explanation: explanation) {
            guard let choice = Choice(rawValue: $1) else { return false }
            $0[keyPath: field] = choice
            return true
        } show: {
            $0[keyPath: field].rawValue
        }
    }
}
