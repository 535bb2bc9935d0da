import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

extension SQLValue {
    static func text(_ text: Text) -> SQLValue { .blob(text.utf8) }
    static func optional(_ text: Text?) -> SQLValue { text.map { .blob($0.utf8) } ?? .null }
    static func optional(_ name: (some ByteName)?) -> SQLValue {
        name.map { .blob($0.bytes) } ?? .null
    }
    static func zone(_ zone: ZoneHandle) -> SQLValue { .integer(zone.number) }
    static func limit(_ limit: Int) -> SQLValue { .integer(Int64(max(0, limit))) }
    /// The incarnation: 64 random bits. SQLite's integers are signed.
    static func incarnation(_ value: UInt64) -> SQLValue { .integer(Int64(bitPattern: value)) }
}

extension SQLStatement {
    func value(_ column: Int32) -> Text { Text(utf8: bytes(column)) }
    func valueIfPresent(_ column: Int32) -> Text? { bytesIfPresent(column).map(Text.init(utf8:)) }
    func name<Name: ByteName>(_ column: Int32) -> Name { Name(bytes: bytes(column)) }
    func nameIfPresent<Name: ByteName>(_ column: Int32) -> Name? {
        bytesIfPresent(column).map(Name.init(bytes:))
    }
    func incarnation(_ column: Int32) -> UInt64 { UInt64(bitPattern: int64(column)) }
}

extension ServerEnvironment {
    /// The number as stored; never renumber.
    var number: Int64 {
        switch self {
        case .development: 0
        case .production: 1
        }
    }

    init(number: Int64) { self = number == 1 ? .production : .development }
}

extension DatabaseScope {
    /// The number as stored; never renumber.
    var number: Int64 {
        switch self {
        case .public: 0
        case .private: 1
        case .shared: 2
        }
    }
}

extension ContainerKey {
    var values: [SQLValue] { [.text(container), .integer(environment.number)] }
}

extension DatabaseKey {
    var values: [SQLValue] { container.values + [.name(owner)] }
}

extension ZoneKey {
    var values: [SQLValue] { database.values + [.name(zone)] }
}
