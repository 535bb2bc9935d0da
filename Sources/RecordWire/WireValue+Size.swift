import RecordModel

extension WireValue {
    /// What the value adds to the size of its record, in bytes: as `FieldValue.countedBytes` counts
    /// the same value here, so that a record that fits there is not refused by a server.
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
