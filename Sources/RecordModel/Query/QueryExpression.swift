/// A query over the records of one type, as it stands in a directory name of
/// `.recordfs/query/DB/ZONE/TYPE/EXPR/` and on the command line.
///
/// Terms are joined with `,` and must all hold: `field=value`, `!=`, `<`, `<=`, `>`, `>=`, `~`
/// (contains, ASCII case ignored), `^=` (begins with), `field` (has a value), `!field` (has none),
/// `sort:field`, `sort:-field`. Values are percent-encoded where they hold `,`, `/` or `%`.
/// Fields of the schema, and `name`, `created`, `modified` of the record itself; a field of the same
/// name goes first, then `$name`, `$created`, `$modified` mean the record's own.
///
/// A list matches when one of its elements does. A field without a value matches `!=` and nothing
/// else. References are compared by the name of the record, dates as
/// `2026-11-20T10:00:00Z` or `2026-11-20`, which is midnight UTC.
package struct QueryExpression: Sendable, Hashable {
    package enum Subject: Hashable, Sendable {
        case field(FieldName)
        case name
        case created
        case modified
    }

    package enum Operator: String, Sendable, Hashable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case contains = "~"
        case beginsWith = "^="
    }

    package enum Condition: Hashable, Sendable {
        case exists(Subject)
        case missing(Subject)
        case compare(Subject, Operator, QueryOperand)
    }

    package struct SortTerm: Hashable, Sendable {
        package let subject: Subject
        package let isDescending: Bool
    }

    package private(set) var conditions: [Condition] = []
    package private(set) var order: [SortTerm] = []

    /// Errors: `invalidArgument` that says which term is wrong, with its place.
    package init(parsing text: [UInt8], schema: RecordSchema) throws(RecordError) {
        var start = 0
        for term in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let reader = QueryTermReader(
                text: text, start: start, term: Array(term), schema: schema)
            switch try reader.read() {
            case .condition(let condition): conditions.append(condition)
            case .sort(let term): order.append(term)
            }
            start += term.count + 1
        }
    }

    package func matches(
        _ document: RecordDocument, name: RecordName, created: Timestamp, modified: Timestamp
    ) -> Bool {
        let row = QueryRow(document: document, name: name, created: created, modified: modified)
        return conditions.allSatisfy { row.satisfies($0) }
    }

    /// What `sort:` terms compare; take it while the document is at hand.
    package func sortKey(
        _ document: RecordDocument, name: RecordName, created: Timestamp, modified: Timestamp
    ) -> SortKey {
        let row = QueryRow(document: document, name: name, created: created, modified: modified)
        return SortKey(values: order.map { row.value(of: $0.subject) })
    }

    package struct SortKey: Sendable {
        fileprivate let values: [FieldValue?]
    }

    /// Whether the first is to stand before the second; records without a value stand last, in
    /// either direction.
    package func isOrdered(_ left: SortKey, before right: SortKey) -> Bool {
        for (index, term) in order.enumerated() {
            switch (left.values[index], right.values[index]) {
            case (nil, nil): continue
            case (nil, _): return false
            case (_, nil): return true
            case (let first?, let second?):
                guard let comparison = first.compared(to: second), comparison != 0 else {
                    continue
                }
                return term.isDescending ? comparison > 0 : comparison < 0
            }
        }
        return false
    }
}

/// The right side of a comparison: the text as it stands, and what it is as each type.
package struct QueryOperand: Hashable, Sendable {
    package let text: [UInt8]
    /// As a value of the subject's type, or of the elements of its list.
    package let value: FieldValue
}
