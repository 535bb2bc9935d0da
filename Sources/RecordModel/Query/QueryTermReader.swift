/// Reads one term of a query.
struct QueryTermReader {
    enum Term {
        case condition(QueryExpression.Condition)
        case sort(QueryExpression.SortTerm)
    }

    let text: [UInt8]
    /// Where the term is in `text`.
    let start: Int
    let term: [UInt8]
    let schema: RecordSchema

    func read() throws(RecordError) -> Term {
        guard !term.isEmpty else { throw error("expected a term like field=value") }
        let sortPrefix = Array("sort:".utf8)
        if term.starts(with: sortPrefix) {
            let rest = term.dropFirst(sortPrefix.count)
            let isDescending = rest.first == UInt8(ascii: "-")
            let subject = try subject(isDescending ? rest.dropFirst() : rest)
            return .sort(.init(subject: subject, isDescending: isDescending))
        }
        guard let (name, symbol, raw) = split() else {
            if term.first == UInt8(ascii: "!") {
                return .condition(.missing(try subject(term.dropFirst())))
            }
            return .condition(.exists(try subject(term[...])))
        }
        let subject = try subject(name)
        guard let value = Self.percentDecoded(Array(raw)) else {
            throw error("a % in a value must be written as %25")
        }
        return .condition(.compare(subject, symbol, try operand(value, subject, symbol)))
    }

    /// At the first operator.
    private func split() -> (ArraySlice<UInt8>, QueryExpression.Operator, ArraySlice<UInt8>)? {
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
        let name = FieldName(bytes: Array(bytes))
        if schema.type(of: name) != nil { return .field(name) }
        switch name.description {
        case "name", "$name": return .name
        case "created", "$created": return .created
        case "modified", "$modified": return .modified
        default: break
        }
        let known =
            schema.fields.prefix(40).map(\.name.description) + ["name", "created", "modified"]
        throw error("no field \"\(name)\" here; there are \(known.joined(separator: ", "))")
    }

    private func operand(
        _ text: [UInt8], _ subject: QueryExpression.Subject, _ symbol: QueryExpression.Operator
    ) throws(RecordError) -> QueryOperand {
        if symbol == .contains || symbol == .beginsWith {
            return QueryOperand(text: text, value: .string(Text(utf8: text)))
        }
        let type: FieldType
        switch subject {
        case .name: type = .string
        case .created, .modified: type = .timestamp
        case .field(let name):
            let declared = schema.type(of: name) ?? .string
            type = if case .list(let element) = declared { element } else { declared }
        }
        guard let value = Self.value(text, as: type) else {
            throw error(
                "\"\(String(decoding: text, as: UTF8.self))\" is no value of a \(type.name) field")
        }
        return QueryOperand(text: text, value: value)
    }

    private static func value(_ text: [UInt8], as type: FieldType) -> FieldValue? {
        let string = String(decoding: text, as: UTF8.self)
        switch type {
        case .string, .json, .reference: return .string(Text(utf8: text))
        case .int64:
            if string == "true" || string == "false" { return .int64(string == "true" ? 1 : 0) }
            // A fraction is a fair bound for integers.
            return Int64(string).map { .int64($0) } ?? number(string)
        case .double: return number(string)
        case .timestamp:
            return (ISO8601.parse(text) ?? ISO8601.parse(text + Array("T00:00Z".utf8))).map {
                .timestamp(milliseconds: $0)
            }
        case .bytes: return Base64.decode(text).map { .bytes($0) }
        case .asset: return .string(Text(utf8: text))
        case .location, .list: return nil
        }
    }

    private static func number(_ string: String) -> FieldValue? {
        guard let value = Double(string), value.isFinite else { return nil }
        return .double(value)
    }

    /// Lenient where names are strict: any `%XX` stands for its byte.
    static func percentDecoded(_ text: [UInt8]) -> [UInt8]? {
        var decoded: [UInt8] = []
        var at = 0
        while at < text.count {
            if text[at] == UInt8(ascii: "%") {
                guard at + 2 < text.count, let high = Hexadecimal.value(text[at + 1]),
                    let low = Hexadecimal.value(text[at + 2])
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
