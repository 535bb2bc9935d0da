import RecordModel
import RecordWire

/// One filter of a query, ready to test values.
struct QueryTest: Sendable {
    let field: QueryField
    let definition: SchemaDocument.Field
    let rule: ComparatorRule
    let operand: FilterValue

    /// Returns whether a value passes. `home` is the zone of the record.
    func passes(_ value: WireValue?, home: ZoneKey?) -> Bool {
        isTrue(value, home) != rule.isNegated
    }

    private func isTrue(_ value: WireValue?, _ home: ZoneKey?) -> Bool {
        guard let value else {
            if case .many(let items) = operand, rule.kind == .containsAll { return items.isEmpty }
            return operand == .null
        }
        switch operand {
        case .null: return false
        case .one(let item): return compare(value, item, home)
        case .many(let items): return compare(value, items, home)
        case .prefix(let prefix):
            return value.elements.contains { $0.comparedBytes?.starts(with: prefix) ?? false }
        case .words(let words):
            let present = Words.of(value.elements)
            return rule.kind == .allWords
                ? words.isSubset(of: present) : !words.isDisjoint(with: present)
        case .circle(let center, let metres):
            guard case .location(let location) = value else { return false }
            return center.metres(to: location) <= metres
        }
    }

    private func compare(_ value: WireValue, _ item: QueryItem, _ home: ZoneKey?) -> Bool {
        switch rule.kind {
        case .equals: return item.equals(value, home: home)
        case .contains: return value.elements.contains { item.equals($0, home: home) }
        default: break
        }
        guard let bytes = value.comparedBytes else { return false }
        return switch rule.kind {
        case .less: bytes.lexicographicallyPrecedes(item.bytes)
        case .lessOrEquals: !item.bytes.lexicographicallyPrecedes(bytes)
        case .greater: item.bytes.lexicographicallyPrecedes(bytes)
        case .greaterOrEquals: !bytes.lexicographicallyPrecedes(item.bytes)
        default: false
        }
    }

    private func compare(_ value: WireValue, _ items: [QueryItem], _ home: ZoneKey?) -> Bool {
        let elements = value.elements
        func has(_ item: QueryItem) -> Bool {
            elements.contains { item.equals($0, home: home) }
        }
        return switch rule.kind {
        case .oneOf, .containsAny: items.contains(where: has)
        case .containsAll: items.allSatisfy(has)
        case .equals:
            elements.count == items.count
                && zip(items, elements).allSatisfy { $0.equals($1, home: home) }
        default: false
        }
    }

    /// Indicates whether a record without the field never passes.
    var needsValue: Bool {
        if rule.isNegated || operand == .null { return false }
        if case .many(let items) = operand, rule.kind == .containsAll { return !items.isEmpty }
        return true
    }
}
