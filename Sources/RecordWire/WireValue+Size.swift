import RecordModel

extension WireValue {
    /// The number of bytes that the value adds to the size of its record. It equals
    /// `FieldValue.countedBytes` of the same value, so that a server does not refuse a record that
    /// fits on this machine.
    package var countedBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .int64, .double, .timestamp: 8
        case .location: 64
        case .reference(let reference):
            reference.name.bytes.count + (reference.zone?.zone.bytes.count ?? 0)
        case .asset: 0
        case .list(let elements): elements.reduce(0) { $0 + $1.countedBytes }
        }
    }
}

extension [WireField] {
    /// The values of a record without its assets, in bytes.
    package var countedBytes: Int { reduce(0) { $0 + ($1.value?.countedBytes ?? 0) } }
}
