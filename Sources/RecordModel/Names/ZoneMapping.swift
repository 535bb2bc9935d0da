/// How directory names and JSON fields of one zone stand for record types and fields on the wire.
///
/// All of the tree goes through it, because a directory name need not be a record type: zones of
/// managed object models will show entities.
package enum ZoneMapping: String, Sendable, CaseIterable {
    /// One to one.
    case plain

    /// nil when no record type can have that name.
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
