import RecordModel
import RecordWire

/// The test of a comparator, without its negation.
enum QueryTestKind: Hashable, Sendable {
    case equals
    case less, lessOrEquals, greater, greaterOrEquals
    case near
    case allWords, anyWord
    case oneOf
    case contains, containsAny, containsAll
    case beginsWith, memberBeginsWith
}

/// The index that a field needs for use in a filter or sort order (Apple's "Integrating a
/// Text-Based Schema into Your Workflow").
enum NeededIndex: Hashable, Sendable {
    case queryable, sortable, searchable
    /// Either index is enough.
    case queryableOrSortable
}

/// The meaning of the 21 comparators.
///
/// | comparator | field | value | index | a record passes when |
/// |---|---|---|---|---|
/// | EQUALS | any | one of the field's type, or null | QUERYABLE | both are the same; lists: element by element; locations: latitude and longitude; references: record and zone, whatever the action; null: the field has no value |
/// | LESS_THAN, LESS_THAN_OR_EQUALS, GREATER_THAN, GREATER_THAN_OR_EQUALS | STRING, number, TIMESTAMP, BYTES, REFERENCE | one | SORTABLE | the field has a value on that side; texts, bytes and record names compare byte by byte, whole numbers and fractions as numbers |
/// | NEAR | LOCATION | LOCATION and distance | QUERYABLE | the great-circle distance is at most `distance` metres |
/// | CONTAINS_ALL_TOKENS | STRING, LIST of it | text or texts | SEARCHABLE | every word of the value is a word of the field |
/// | CONTAINS_ANY_TOKENS | STRING, LIST of it | text or texts | SEARCHABLE | a word of the value is a word of the field |
/// | IN | scalar | list | QUERYABLE | the field equals an element of the value |
/// | LIST_CONTAINS | LIST | one element | QUERYABLE | an element of the field equals the value |
/// | CONTAINS_ANY | LIST | list | QUERYABLE | an element of the field equals an element of the value |
/// | LIST_CONTAINS_ALL | LIST | list | QUERYABLE | each element of the value equals one of the field |
/// | BEGINS_WITH | STRING, REFERENCE | text | QUERYABLE or SORTABLE | the text or record name has the value as its first bytes |
/// | LIST_MEMBER_BEGINS_WITH | LIST of these | text | QUERYABLE | an element has the value as its first bytes |
/// | NOT_EQUALS, NOT_IN, NOT_LIST_CONTAINS, NOT_LIST_CONTAINS_ANY, NOT_LIST_CONTAINS_ALL, NOT_BEGINS_WITH, NOT_LIST_MEMBER_BEGINS_WITH | as without NOT | as without NOT | as without NOT | it does not pass without NOT: also when it has no such field |
///
/// A record without the field passes no test without NOT, but EQUALS null. Words are runs of
/// letters and digits in lower case (`Words`).
struct ComparatorRule: Hashable, Sendable {
    let kind: QueryTestKind
    let isNegated: Bool

    private init(asks kind: QueryTestKind, not isNegated: Bool = false) {
        self.kind = kind
        self.isNegated = isNegated
    }

    init(_ comparator: Comparator) {
        self =
            switch comparator {
            case .equals: Self(asks: .equals)
            case .notEquals: Self(asks: .equals, not: true)
            case .lessThan: Self(asks: .less)
            case .lessThanOrEquals: Self(asks: .lessOrEquals)
            case .greaterThan: Self(asks: .greater)
            case .greaterThanOrEquals: Self(asks: .greaterOrEquals)
            case .near: Self(asks: .near)
            case .containsAllTokens: Self(asks: .allWords)
            case .containsAnyTokens: Self(asks: .anyWord)
            case .in: Self(asks: .oneOf)
            case .notIn: Self(asks: .oneOf, not: true)
            case .listContains: Self(asks: .contains)
            case .notListContains: Self(asks: .contains, not: true)
            case .containsAny: Self(asks: .containsAny)
            case .notListContainsAny: Self(asks: .containsAny, not: true)
            case .listContainsAll: Self(asks: .containsAll)
            case .notListContainsAll: Self(asks: .containsAll, not: true)
            case .beginsWith: Self(asks: .beginsWith)
            case .notBeginsWith: Self(asks: .beginsWith, not: true)
            case .listMemberBeginsWith: Self(asks: .memberBeginsWith)
            case .notListMemberBeginsWith: Self(asks: .memberBeginsWith, not: true)
            }
    }

    var index: NeededIndex {
        switch kind {
        case .equals, .near, .oneOf, .contains, .containsAny, .containsAll, .memberBeginsWith:
            .queryable
        case .less, .lessOrEquals, .greater, .greaterOrEquals: .sortable
        case .allWords, .anyWord: .searchable
        case .beginsWith: .queryableOrSortable
        }
    }

    /// Returns whether the comparator can test fields of the type.
    func fits(_ type: FieldType) -> Bool {
        if case .list(let element) = type {
            return switch kind {
            case .equals, .contains, .containsAny, .containsAll: true
            case .allWords, .anyWord: element == .string
            case .memberBeginsWith: element == .string || element == .reference
            case .less, .lessOrEquals, .greater, .greaterOrEquals, .near, .oneOf, .beginsWith:
                false
            }
        }
        return switch kind {
        case .equals, .oneOf: true
        case .less, .lessOrEquals, .greater, .greaterOrEquals: type != .location
        case .near: type == .location
        case .allWords, .anyWord: type == .string
        case .beginsWith: type == .string || type == .reference
        case .contains, .containsAny, .containsAll, .memberBeginsWith: false
        }
    }
}

extension SchemaDocument.Field {
    func has(_ index: NeededIndex) -> Bool {
        switch index {
        case .queryable: field.isQueryable
        case .sortable: field.isSortable
        case .searchable: field.isSearchable
        case .queryableOrSortable: field.isQueryable || field.isSortable
        }
    }
}
