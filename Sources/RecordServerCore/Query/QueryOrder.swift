import RecordModel
import RecordWire

/// The order of a query's answer: by these keys, then by record name, then by zone.
///
/// Records without a value come first in ascending order and last in descending order. The order of
/// texts and bytes uses the part that an index keeps of them, the first 256 bytes. Names are in the
/// direction of the last key.
struct QueryOrder: Sendable {
    struct Key: Sendable, Hashable {
        let field: QueryField
        let isAscending: Bool
        /// The point from which an order by distance measures.
        let center: Location?

        /// The name of an index that has the records in this order. It is nil for distances, and
        /// for fields without an index of their own.
        var index: FieldName? {
            switch field {
            case .field(let name): center == nil ? name : nil
            case .system(let system):
                system.hasIndexEntries ? FieldName(system.schemaName) : nil
            }
        }

        func bytes(_ value: WireValue?) -> [UInt8]? {
            guard let value else { return nil }
            guard let center else { return IndexKey.encode(value) }
            guard case .location(let location) = value else { return nil }
            return IndexKey.double(center.metres(to: location))
        }
    }

    static let maximumKeys = 16

    let keys: [Key]

    /// Makes an order. Names are unique, so that keys after the name have no effect. Without keys,
    /// the order is that of the first range or prefix of the query, if the query tests no equality:
    /// the index of that range has the answer in that order.
    init(_ keys: [Key], tests: [QueryTest]) {
        var kept: [Key] = []
        for key in keys {
            kept.append(key)
            if key.field == .system(.recordName) { break }
        }
        if kept.isEmpty, let range = Self.range(tests) {
            kept = [Key(field: range.field, isAscending: true, center: nil)]
        }
        self.keys = kept
    }

    private static func range(_ tests: [QueryTest]) -> QueryTest? {
        if tests.contains(where: { $0.indexUse?.isInNameOrder ?? false }) { return nil }
        return tests.first { test in
            guard let use = test.indexUse, use.kind == .value else { return false }
            return test.rule.kind != .near
        }
    }

    /// The direction of records with equal keys.
    var isAscending: Bool { keys.last?.isAscending ?? true }

    /// Returns whether a place belongs to this order, because the schema may have changed since.
    func has(_ place: QueryPosition) -> Bool {
        place.name == nil ? place.keys.count <= keys.count : place.keys.count == keys.count
    }

    func position(
        _ record: StoredRecord, _ fields: [WireField], zone: [UInt8]
    ) -> QueryPosition {
        QueryPosition(
            keys: keys.map { $0.bytes(record.value(of: $0.field, fields)) }, name: record.name,
            zone: zone)
    }

    func precedes(_ left: QueryPosition, _ right: QueryPosition) -> Bool {
        for (index, key) in keys.enumerated() {
            // This is the place after all records with these keys.
            guard index < left.keys.count else { return false }
            guard index < right.keys.count else { return true }
            if left.keys[index] == right.keys[index] { continue }
            return key.isAscending == Self.less(left.keys[index], right.keys[index])
        }
        guard let leftName = left.name else { return false }
        guard let rightName = right.name else { return true }
        if leftName != rightName { return isAscending == (leftName < rightName) }
        if left.zone == right.zone { return false }
        return isAscending == left.zone.lexicographicallyPrecedes(right.zone)
    }

    private static func less(_ left: [UInt8]?, _ right: [UInt8]?) -> Bool {
        guard let right else { return false }
        guard let left else { return true }
        return left.lexicographicallyPrecedes(right)
    }
}

/// A place in the order of a query. It consists of values, not of a record, so it stays valid when
/// the record there changes or is deleted.
struct QueryPosition: Hashable, Sendable {
    /// The keys. With fewer keys than the order has, the place is after all records with these
    /// keys.
    var keys: [[UInt8]?]
    /// The name. It is nil for the place after all records with these keys.
    var name: RecordName?
    /// The `ZoneKey.orderBytes` of the zone.
    var zone: [UInt8]
}

extension ZoneKey {
    /// The bytes that distinguish zones of one database, and order them.
    var orderBytes: [UInt8] { database.owner.bytes + [0] + zone.bytes }
}
