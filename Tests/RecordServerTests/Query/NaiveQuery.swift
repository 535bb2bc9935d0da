import RecordModel
import RecordWire

@testable import RecordServerCore

/// What a query should find, by the plainest means: all records, one predicate for each
/// comparator, a sort.
struct NaiveQuery {
    let query: WireQuery

    func run(_ records: [BenchRecord]) -> [String] {
        records.filter(passes).sorted(by: precedes).map(\.name)
    }

    private func value(_ field: QueryField, _ record: BenchRecord) -> WireValue? {
        func reference(_ name: String) -> WireValue {
            .reference(WireReference(name: RecordName(name)))
        }
        return switch field {
        case .field(let name): record.values[name.description]
        case .system(.recordName): reference(record.name)
        case .system(.share): record.share.map(reference)
        case .system(.parent): record.parent.map(reference)
        case .system(.createdUserRecordName): reference(record.creator)
        case .system(.modifiedUserRecordName): reference(record.modifier)
        case .system(.createdTimestamp): .timestamp(milliseconds: record.created)
        case .system(.modifiedTimestamp): .timestamp(milliseconds: record.modified)
        }
    }

    private func passes(_ record: BenchRecord) -> Bool {
        query.filters.allSatisfy { passes($0, value($0.field, record)) }
    }

    private func passes(_ filter: QueryFilter, _ value: WireValue?) -> Bool {
        let wanted = filter.value.value
        func positive(_ comparator: Comparator) -> Bool {
            var filter = filter
            filter.comparator = comparator
            return passes(filter, value)
        }
        switch filter.comparator {
        case .equals:
            guard let wanted else { return value == nil }
            return value.map { same($0, wanted) } ?? false
        case .lessThan: return compare(value, wanted).map { $0 < 0 } ?? false
        case .lessThanOrEquals: return compare(value, wanted).map { $0 <= 0 } ?? false
        case .greaterThan: return compare(value, wanted).map { $0 > 0 } ?? false
        case .greaterThanOrEquals: return compare(value, wanted).map { $0 >= 0 } ?? false
        case .near:
            guard case .location(let place)? = value, case .location(let center)? = wanted else {
                return false
            }
            return center.metres(to: place) <= filter.distance ?? 0
        case .containsAllTokens:
            guard value != nil else { return false }
            return words(wanted).isSubset(of: words(value))
        case .containsAnyTokens: return !words(wanted).isDisjoint(with: words(value))
        case .in:
            return list(wanted).contains { one in value.map { same($0, one) } ?? false }
        case .listContains:
            return list(value).contains { one in wanted.map { same(one, $0) } ?? false }
        case .containsAny:
            return list(value).contains { one in list(wanted).contains { same(one, $0) } }
        case .listContainsAll:
            return list(wanted).allSatisfy { one in list(value).contains { same(one, $0) } }
        case .beginsWith: return value.map { begins($0, wanted) } ?? false
        case .listMemberBeginsWith: return list(value).contains { begins($0, wanted) }
        case .notEquals: return !positive(.equals)
        case .notIn: return !positive(.in)
        case .notListContains: return !positive(.listContains)
        case .notListContainsAny: return !positive(.containsAny)
        case .notListContainsAll: return !positive(.listContainsAll)
        case .notBeginsWith: return !positive(.beginsWith)
        case .notListMemberBeginsWith: return !positive(.listMemberBeginsWith)
        }
    }

    private func list(_ value: WireValue?) -> [WireValue] {
        if case .list(let elements)? = value { elements } else { [] }
    }

    private func same(_ left: WireValue, _ right: WireValue) -> Bool {
        switch (left, right) {
        case (.location(let left), .location(let right)):
            left.latitude == right.latitude && left.longitude == right.longitude
        case (.reference(let left), .reference(let right)): left.name == right.name
        case (.list(let left), .list(let right)):
            left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
        default: compare(left, right) == 0
        }
    }

    /// Less than, equal to or greater than 0; nil where there is no order.
    private func compare(_ left: WireValue?, _ right: WireValue?) -> Int? {
        func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
            left == right ? 0 : (left < right ? -1 : 1)
        }
        func whole(_ number: Int64, _ fraction: Double) -> Int {
            if fraction >= 0x1p63 { return -1 }
            if fraction < -0x1p63 { return 1 }
            let floor = Int64(fraction.rounded(.down))
            return number == floor && fraction > fraction.rounded(.down)
                ? -1 : order(number, floor)
        }
        return switch (left, right) {
        case (.string(let left), .string(let right)): order(left, right)
        case (.bytes(let left), .bytes(let right)): order(Text(utf8: left), Text(utf8: right))
        case (.int64(let left), .int64(let right)): order(left, right)
        case (.double(let left), .double(let right)): order(left, right)
        case (.int64(let left), .double(let right)): whole(left, right)
        case (.double(let left), .int64(let right)): -whole(right, left)
        case (.timestamp(let left), .timestamp(let right)): order(left, right)
        case (.reference(let left), .reference(let right)): order(left.name, right.name)
        default: nil
        }
    }

    private func words(_ value: WireValue?) -> Set<String> {
        var all: Set<String> = []
        for element in value.map({ list($0).isEmpty ? [$0] : list($0) }) ?? [] {
            guard case .string(let text) = element else { continue }
            for part in text.string.lowercased().split(whereSeparator: {
                !$0.isLetter && !$0.isNumber
            }) {
                // Of the ideographs, only these two are in the texts.
                for word in part.split(whereSeparator: { "東京".contains($0) }) {
                    all.insert(String(word))
                }
                for ideograph in part where "東京".contains(ideograph) {
                    all.insert(String(ideograph))
                }
            }
        }
        return all
    }

    private func begins(_ value: WireValue, _ prefix: WireValue?) -> Bool {
        switch (value, prefix) {
        case (.string(let text), .string(let prefix)?): text.utf8.starts(with: prefix.utf8)
        case (.reference(let target), .string(let prefix)?):
            target.name.bytes.starts(with: prefix.utf8)
        default: false
        }
    }

    // MARK: Order

    private func precedes(_ left: BenchRecord, _ right: BenchRecord) -> Bool {
        for sort in sorts {
            let order = compareKeys(value(sort.field, left), value(sort.field, right), sort)
            if order != 0 { return sort.ascending == (order < 0) }
        }
        let ascending = sorts.last?.ascending ?? true
        return ascending == (Text(left.name) < Text(right.name))
    }

    private func compareKeys(_ left: WireValue?, _ right: WireValue?, _ sort: QuerySort) -> Int {
        guard let left else { return right == nil ? 0 : -1 }
        guard let right else { return 1 }
        if let center = sort.relativeLocation, case .location(let left) = left,
            case .location(let right) = right
        {
            let (near, far) = (center.metres(to: left), center.metres(to: right))
            return near == far ? 0 : (near < far ? -1 : 1)
        }
        return compare(cut(left), cut(right)) ?? 0
    }

    /// Texts are in order by their first 256 bytes.
    private func cut(_ value: WireValue) -> WireValue {
        switch value {
        case .string(let text): .string(Text(utf8: Array(text.utf8.prefix(256))))
        case .bytes(let bytes): .bytes(Array(bytes.prefix(256)))
        default: value
        }
    }

    /// Without an order of its own, a query has that of its first range, if it asks for nothing
    /// by equality.
    private var sorts: [QuerySort] {
        if !query.sorts.isEmpty { return query.sorts }
        let hasEquality = query.filters.contains { filter in
            guard filter.value.value != nil, hasEntries(filter.field) else { return false }
            switch filter.comparator {
            case .equals, .listContainsAll:
                if case .list(let elements)? = filter.value.value { return !elements.isEmpty }
                return true
            case .containsAllTokens: return !words(filter.value.value).isEmpty
            case .in, .listContains, .containsAny, .containsAnyTokens: return true
            default: return false
            }
        }
        if hasEquality { return [] }
        let range = query.filters.first { filter in
            guard hasEntries(filter.field) else { return false }
            return switch filter.comparator {
            case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith: true
            default: false
            }
        }
        return range.map { [QuerySort(field: $0.field)] } ?? []
    }

    private func hasEntries(_ field: QueryField) -> Bool {
        switch field {
        case .field: true
        case .system(let system): system.hasIndexEntries
        }
    }
}
