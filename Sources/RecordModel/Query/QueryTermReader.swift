/// Reads one term of a query.
struct QueryTermReader {
    enum Term {
        case conditions([QueryExpression.Condition])
        case sort(QueryExpression.SortTerm)
    }

    let text: [UInt8]
    /// The place of the term in `text`.
    let start: Int
    let term: [UInt8]
    let schema: RecordSchema
    let now: Timestamp

    func read() throws(RecordError) -> Term {
        guard !term.isEmpty else { throw error("expected a term like field=value") }
        let sortPrefix = Array("sort:".utf8)
        if term.starts(with: sortPrefix) {
            let rest = term.dropFirst(sortPrefix.count)
            let isDescending = rest.first == UInt8(ascii: "-")
            let subject = try subject(isDescending ? rest.dropFirst() : rest)
            return .sort(.init(subject: subject, isDescending: isDescending))
        }
        var conditions: [QueryExpression.Condition] = []
        var last: (subject: QueryExpression.Subject, symbol: QueryExpression.Operator)?
        for part in term.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false) {
            guard !part.isEmpty else {
                throw error("expected a value or a term on both sides of |; write %7C for the sign")
            }
            conditions.append(try condition(part, &last))
        }
        return .conditions(conditions)
    }

    /// Reads one condition.
    ///
    /// - Parameter last: the subject and the operator for an alternative that has no operator.
    private func condition(
        _ part: ArraySlice<UInt8>,
        _ last: inout (subject: QueryExpression.Subject, symbol: QueryExpression.Operator)?
    ) throws(RecordError) -> QueryExpression.Condition {
        if let (name, symbol, raw) = Self.split(part) {
            let subject = try subject(name)
            last = (subject, symbol)
            return .compare(subject, symbol, try operand(raw, subject, symbol))
        }
        if let (subject, symbol) = last {
            return .compare(subject, symbol, try operand(part, subject, symbol))
        }
        if part.first == UInt8(ascii: "!") { return .missing(try subject(part.dropFirst())) }
        return .exists(try subject(part))
    }

    /// Splits a term at the first operator.
    private static func split(
        _ term: ArraySlice<UInt8>
    ) -> (ArraySlice<UInt8>, QueryExpression.Operator, ArraySlice<UInt8>)? {
        let symbols: [QueryExpression.Operator] = [
            .notEqual, .lessOrEqual, .greaterOrEqual, .beginsWith, .equal, .less, .greater,
            .contains,
        ]
        for index in term.indices {
            for symbol in symbols where term[index...].starts(with: symbol.rawValue.utf8) {
                return (term[..<index], symbol, term[(index + symbol.rawValue.utf8.count)...])
            }
        }
        return nil
    }

    private func subject(_ bytes: ArraySlice<UInt8>) throws(RecordError)
        -> QueryExpression.Subject
    {
        let written = FieldName(bytes: Array(bytes))
        let name = schema.mapping?.field(of: written) ?? written
        if schema.type(of: name) != nil { return .field(name) }
        switch name.description {
        case "name", "$name": return .name
        case "created", "$created": return .created
        case "modified", "$modified": return .modified
        default: break
        }
        if let member = member(name.bytes) { return member }
        let known =
            schema.fields.prefix(40).map {
                (schema.mapping?.name(of: $0.name) ?? $0.name).description
            }
            + ["name", "created", "modified"]
        throw error("no field \"\(name)\" here; there are \(known.joined(separator: ", "))")
    }

    /// Reads `field.member.member` of nested JSON, or `field.latitude` of a location.
    private func member(_ name: [UInt8]) -> QueryExpression.Subject? {
        let parts = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count > 1, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        let field = FieldName(bytes: Array(parts[0]))
        switch schema.type(of: field) {
        case .json, .location, .list(.location):
            return .member(field, parts.dropFirst().map { Text(utf8: Array($0)) })
        default: return nil
        }
    }

    private func operand(
        _ raw: ArraySlice<UInt8>, _ subject: QueryExpression.Subject,
        _ symbol: QueryExpression.Operator
    ) throws(RecordError) -> QueryOperand {
        guard let text = Self.percentDecoded(Array(raw)) else {
            throw error("a % in a value must be written as %25")
        }
        if symbol == .contains || symbol == .beginsWith {
            return QueryOperand(text: text, value: .string(Text(utf8: text)))
        }
        let type: FieldType
        switch subject {
        case .name: type = .string
        case .created, .modified: type = .timestamp
        case .member:
            let string = String(decoding: text, as: UTF8.self)
            let number = string == "true" ? 1 : string == "false" ? 0 : Double(string)
            var operand = QueryOperand(text: text, value: .string(Text(utf8: text)))
            operand.number = number.flatMap { $0.isFinite ? .double($0) : nil }
            return operand
        case .field(let name):
            let declared = schema.type(of: name) ?? .string
            type = if case .list(let element) = declared { element } else { declared }
        }
        guard let value = value(text, as: type) else {
            let hint =
                type == .timestamp ? "; write 2026-11-20, 2026-11-20T10:00:00Z, or an age: 2h" : ""
            throw error(
                "\"\(String(decoding: text, as: UTF8.self))\" is no value of a \(type.name) field"
                    + hint)
        }
        return QueryOperand(text: text, value: value)
    }

    private func value(_ text: [UInt8], as type: FieldType) -> FieldValue? {
        let string = String(decoding: text, as: UTF8.self)
        switch type {
        case .string, .json, .reference: return .string(Text(utf8: text))
        case .int64:
            if string == "true" || string == "false" { return .int64(string == "true" ? 1 : 0) }
            // A fraction is a valid bound for integers.
            return Int64(string).map { .int64($0) } ?? Self.number(string)
        case .double: return Self.number(string)
        case .timestamp:
            return
                (ISO8601.parse(text) ?? ISO8601.parse(text + [UInt8(ascii: "Z")])
                ?? ISO8601.parse(text + Array("T00:00Z".utf8)) ?? Self.ago(string, now)).map {
                    .timestamp(milliseconds: $0)
                }
        case .bytes: return Base64.decode(text).map { .bytes($0) }
        case .asset: return .string(Text(utf8: text))
        case .location, .list: return nil
        }
    }

    /// Reads an age, such as `30s`, `10m`, `2h`, `3d`, `1w`, and returns the time that long ago.
    private static func ago(_ text: String, _ now: Timestamp) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            count >= 0
        else { return nil }
        let age = count.multipliedReportingOverflow(by: unit * 1000)
        return age.overflow
            ? .min : now.milliseconds.subtractingReportingOverflow(age.partialValue).partialValue
    }

    private static func number(_ string: String) -> FieldValue? {
        guard let value = Double(string), value.isFinite else { return nil }
        return .double(value)
    }

    /// Decodes percent escapes. It accepts more than names do: any `%XX` stands for its byte.
    static func percentDecoded(_ text: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var at = 0
        while at < text.count {
            if text[at] == UInt8(ascii: "%") {
                guard at + 2 < text.count, let high = HexadecimalDigit.value(text[at + 1]),
                    let low = HexadecimalDigit.value(text[at + 2])
                else { return nil }
                decoded.append(high << 4 | low)
                at += 3
            } else {
                decoded.append(text[at])
                at += 1
            }
        }
        return decoded
    }

    private func error(_ message: String) -> RecordError {
        RecordError(
            .invalidArgument, "in \"\(String(decoding: term, as: UTF8.self))\": \(message)",
            at: TextPosition(offset: start, in: text))
    }
}
