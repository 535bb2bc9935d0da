import RecordModel
import RecordWire

/// The parts of an index that contain all records which pass a test. The test is run on these
/// records again, because keys are cut, and an index of words or elements keeps some records
/// separately.
struct IndexUse: Hashable, Sendable {
    struct Range: Hashable, Sendable {
        var lower: [UInt8] = []
        var upper: [UInt8]?
    }

    let kind: IndexEntry.Kind
    var ranges: [Range]
    /// Indicates whether each range is one key, so that its records are in the order of their
    /// names.
    let isInNameOrder: Bool

    static func keys(_ kind: IndexEntry.Kind, _ keys: some Sequence<[UInt8]>) -> IndexUse {
        var keys = Set(keys)
        // Records with many words or elements are not found by any of them.
        if kind != .value, !keys.isEmpty { keys.insert(IndexKey.overflow) }
        return IndexUse(
            kind: kind,
            ranges: keys.sorted { $0.lexicographicallyPrecedes($1) }.map {
                Range(lower: $0, upper: IndexKey.next(after: $0))
            }, isInNameOrder: true)
    }

    static func prefix(_ kind: IndexEntry.Kind, _ prefix: [UInt8]) -> IndexUse {
        let key = Array(prefix.prefix(IndexKey.maximumBytes))
        var ranges = [Range(lower: key, upper: IndexKey.end(ofPrefix: key))]
        if kind != .value {
            ranges.append(
                Range(
                    lower: IndexKey.overflow, upper: IndexKey.next(after: IndexKey.overflow)))
        }
        return IndexUse(kind: kind, ranges: ranges, isInNameOrder: false)
    }

    static func range(lower: [UInt8] = [], upper: [UInt8]? = nil) -> IndexUse {
        IndexUse(
            kind: .value, ranges: [Range(lower: lower, upper: upper)], isInNameOrder: false)
    }
}

extension QueryTest {
    /// The name under which the index has the field. It is nil when the index has no entries of the
    /// field.
    var indexName: FieldName? {
        switch field {
        case .field(let name): name
        case .system(let system): system.hasIndexEntries ? FieldName(system.schemaName) : nil
        }
    }

    /// The use of an index for this test. It is nil when no index helps.
    var indexUse: IndexUse? {
        guard !rule.isNegated, indexName != nil, definition.has(rule.index) else { return nil }
        switch operand {
        case .null: return nil
        case .one(let item):
            switch rule.kind {
            case .equals: return .keys(.value, [item.key])
            case .contains: return .keys(.element, [item.key])
            // Keys of texts are cut, so the bound itself can be on either side.
            case .less, .lessOrEquals: return .range(upper: IndexKey.next(after: item.key))
            case .greater, .greaterOrEquals: return .range(lower: item.key)
            default: return nil
            }
        case .many(let items):
            switch rule.kind {
            case .oneOf: return .keys(.value, items.map(\.key))
            case .containsAny: return .keys(.element, items.map(\.key))
            case .containsAll, .equals: return items.first.map { .keys(.element, [$0.key]) }
            default: return nil
            }
        case .prefix(let prefix):
            return .prefix(rule.kind == .beginsWith ? .value : .element, prefix)
        case .words(let words):
            let keys = words.map { Array($0.prefix(IndexKey.maximumBytes)) }
            guard rule.kind == .allWords else { return .keys(.token, keys) }
            // The longest word is likely to be the rarest.
            let longest = keys.max { left, right in
                left.count != right.count
                    ? left.count < right.count : left.lexicographicallyPrecedes(right)
            }
            return longest.map { .keys(.token, [$0]) }
        case .circle(let center, let metres):
            let degrees = Location.degrees(metres: metres)
            return .range(
                lower: IndexKey.double(center.latitude - degrees),
                upper: IndexKey.end(ofPrefix: IndexKey.double(center.latitude + degrees)))
        }
    }
}
