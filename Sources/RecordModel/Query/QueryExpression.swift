/// A query over the records of one type, as it is written in a directory name of
/// `.recordfs/query/DB/ZONE/TYPE/EXPR/` and on the command line.
///
/// Terms are joined with `,` and must all hold: `field=value`, `!=`, `<`, `<=`, `>`, `>=`, `~`
/// (contains, ASCII case ignored), `^=` (begins with), `field` (has a value), `!field` (has none),
/// `sort:field`, `sort:-field`. When alternatives are joined with `|`, at least one must hold. An
/// alternative without an operator is another value for the field before it: `cuisine=thai|indian`,
/// `n>4|vegan=1`. Values are percent-encoded where they hold `,`, `/`, `|` or `%`. `field.member`
/// is a member of nested JSON or of a location.
/// Terms name fields of the schema, and `name`, `created`, `modified` of the record itself. A field
/// with one of these names takes precedence. Then `$name`, `$created`, `$modified` mean the
/// record's own.
///
/// A list matches when one of its elements does. A field without a value matches `!=` and nothing
/// else. References are compared by the name of the record, dates as `2026-11-20T10:00:00Z` or
/// `2026-11-20`, which is midnight UTC, or as an age: `modified>2h` is later than two hours ago.
package struct QueryExpression: Sendable, Hashable {
    package enum Subject: Hashable, Sendable {
        case field(FieldName)
        /// The values that nested JSON, or a location, has at a path of keys.
        case member(FieldName, [Text])
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

    /// Groups of conditions. At least one condition of each group must hold.
    package private(set) var conditions: [[Condition]] = []
    package private(set) var order: [SortTerm] = []

    /// Creates the query that matches all records.
    package init() {}

    /// Parses a query.
    ///
    /// - Parameter now: the time from which ages are counted.
    /// Errors: `invalidArgument` that says which term is wrong, with its place.
    package init(
        parsing text: [UInt8], schema: RecordSchema, now: Timestamp = SystemClock().now
    ) throws(RecordError) {
        var start = 0
        for term in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            let reader = QueryTermReader(
                text: text, start: start, term: Array(term), schema: schema, now: now)
            switch try reader.read() {
            case .conditions(let alternatives): conditions.append(alternatives)
            case .sort(let term): order.append(term)
            }
            start += term.count + 1
        }
    }

    /// The fields for which a record must have one of several values, with the hashes of these
    /// values. An index can find such records.
    package var equalities: [(field: FieldName, hashes: [Int64])] {
        conditions.compactMap { group in
            var name: FieldName?
            var hashes: [Int64] = []
            for condition in group {
                guard case .compare(.field(let field), .equal, let operand) = condition,
                    name == nil || name == field,
                    let hash = operand.value.queryHashes.first
                else { return nil }
                name = field
                hashes.append(hash)
            }
            return name.map { ($0, hashes) }
        }
    }

    package func matches(
        _ document: RecordDocument, name: RecordName, created: Timestamp, modified: Timestamp
    ) -> Bool {
        let row = QueryRow(document: document, name: name, created: created, modified: modified)
        return conditions.allSatisfy { $0.contains(where: row.satisfies) }
    }

    /// Returns the values that `sort:` terms compare. Call it while the document is at hand.
    package func sortKey(
        _ document: RecordDocument, name: RecordName, created: Timestamp, modified: Timestamp
    ) -> SortKey {
        let row = QueryRow(document: document, name: name, created: created, modified: modified)
        return SortKey(values: order.map { row.value(of: $0.subject) })
    }

    package struct SortKey: Sendable {
        fileprivate let values: [FieldValue?]
    }

    /// Returns whether the first comes before the second. Records without a value are last, in
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

/// The right side of a comparison: the text as it is written, and its value in each type.
package struct QueryOperand: Hashable, Sendable {
    package let text: [UInt8]
    /// The value in the subject's type, or in the type of the elements of its list.
    package let value: FieldValue
    /// The value as a number, for a subject that can be both a number and a text.
    package var number: FieldValue?
}
