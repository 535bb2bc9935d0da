/// The four databases of a mount, in the order in which the root lists them.
///
/// The raw value is stored; never renumber.
package enum Database: Int64, CaseIterable, Sendable, Hashable {
    case `private` = 1
    case shared = 2
    case `public` = 3
    /// The database that never leaves this machine: its changes make no outbox rows.
    case local = 4

    /// The name of the database's directory.
    package var name: String {
        switch self {
        case .private: "private"
        case .shared: "shared"
        case .public: "public"
        case .local: "local"
        }
    }

    package init?(name: some StringProtocol) {
        guard let match = Database.allCases.first(where: { $0.name == name }) else { return nil }
        self = match
    }

    /// Indicates whether changes are uploaded, and so leave an outbox row.
    package var isSynced: Bool { self != .local }
}

/// A name as the bytes it consists of.
///
/// Swift's `String` equates NFC with NFD and every invalid UTF-8 sequence with every other; the
/// kernel and the record server do not. So names compare as bytes.
package protocol ByteName: Hashable, Comparable, Sendable, CustomStringConvertible {
    var bytes: [UInt8] { get }
    init(bytes: [UInt8])
}

extension ByteName {
    package init(_ string: some StringProtocol) {
        self.init(bytes: Array(string.utf8))
    }

    /// The name for messages only: invalid UTF-8 is shown as replacement characters.
    package var description: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// The name of a zone, unique for one owner in one database.
package struct ZoneName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The owner of a zone under `shared/`; empty for your own zones.
package struct OwnerName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
    package static let me = OwnerName(bytes: [])
}

/// The name of a record type, `[A-Za-z_][A-Za-z0-9_]*`, at most 255 bytes.
package struct RecordTypeName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The name of a field, `[A-Za-z][A-Za-z0-9_]*`, at most 255 bytes.
package struct FieldName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The name of a record, unique in its zone over all record types.
package struct RecordName: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The file name of a record without `.json`: its record name, percent-encoded (MountContract,
/// "Names").
package struct Stem: ByteName {
    package let bytes: [UInt8]
    package init(bytes: [UInt8]) { self.bytes = bytes }
}

/// The row of a zone in the local store. Never reused.
package struct ZoneID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// The row of a record type in one zone (a TYPE directory) in the local store. Never reused.
package struct TypeID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// The row of a record in the local store. Never reused; the inode number comes from it.
package struct RecordID: Hashable, Comparable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The row of one large field of a record in the local store. Never reused.
package struct AssetID: Hashable, Comparable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The SHA-256 of an asset's bytes, in 64 lower-case hexadecimal digits.
package struct ContentHash: Hashable, Sendable, CustomStringConvertible {
    package let hex: String
    package init(hex: String) { self.hex = hex }
    package var description: String { hex }
}

/// The author of a change, as history and events show it.
package enum Author: String, Sendable, CaseIterable {
    case mount
    case commandLine = "cli"
    case `import`
    case sync
    case restore
}
