import RecordModel

/// The types that zones had at moments, so that a walk through a moment looks for them once.
struct PastTypes {
    struct Key: Hashable {
        let token: Int64
        let zone: ZoneID
    }

    private static let countMax = 256

    private var types: [Key: [RecordTypeName]] = [:]

    subscript(key: Key) -> [RecordTypeName]? { types[key] }

    mutating func keep(_ found: [RecordTypeName], _ key: Key) {
        if types.count >= Self.countMax { types.removeAll() }
        types[key] = found
    }
}
