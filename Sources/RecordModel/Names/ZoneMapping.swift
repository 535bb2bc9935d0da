/// The mapping between the directory names and JSON fields of one zone and the record types and
/// fields on the wire.
///
/// The whole tree uses it, because a directory name need not be a record type: zones of managed
/// object models will show entities.
package enum ZoneMapping: String, Sendable, CaseIterable {
    /// One to one.
    case plain

    /// Returns the record type of a directory. Returns nil when no record type can have that name.
    package func typeName(ofDirectory name: [UInt8]) -> RecordTypeName? {
        switch self {
        case .plain:
            let type = RecordTypeName(bytes: name)
            return type.isValid ? type : nil
        }
    }

    package func directoryName(of type: RecordTypeName) -> [UInt8] {
        switch self {
        case .plain: type.bytes
        }
    }
}
