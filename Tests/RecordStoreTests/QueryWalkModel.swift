import RecordModel

/// A plain record and plain terms of queries over it: the meaning of the terms as their
/// documentation says it, without the types of the product.
struct QueryModelRecord {
    var number: Int?
    var fraction: Double?
    var word: String?
    var tags: [String]?

    /// The text of its file.
    var text: String {
        var members: [String] = []
        if let number { members.append("\"n\":\(number)") }
        if let fraction { members.append("\"d\":\(fraction)") }
        if let word { members.append("\"s\":\"\(word)\"") }
        if let tags {
            members.append("\"tags\":[\(tags.map { "\"\($0)\"" }.joined(separator: ","))]")
        }
        return "{\(members.joined(separator: ","))}"
    }

    /// The values of the same record, as the server reports them.
    var values: KeyValuePairs<String, FieldValue> {
        switch (number, word) {
        case (let number?, let word?):
            ["n": .int64(Int64(number)), "s": .string(Text(word))]
        case (let number?, nil): ["n": .int64(Int64(number))]
        case (nil, let word?): ["s": .string(Text(word))]
        case (nil, nil): [:]
        }
    }
}

/// One term of a query: its text, and what it means.
struct QueryModelTerm {
    let text: String
    let holds: (QueryModelRecord) -> Bool

    static func number(_ sign: String, _ value: Int) -> QueryModelTerm {
        QueryModelTerm(text: "n\(sign)\(value)") { record in
            guard let number = record.number else { return sign == "!=" }
            return switch sign {
            case "=": number == value
            case "!=": number != value
            case "<": number < value
            case "<=": number <= value
            case ">": number > value
            default: number >= value
            }
        }
    }

    /// One of two numbers.
    static func either(_ first: Int, _ second: Int) -> QueryModelTerm {
        QueryModelTerm(text: "n=\(first)|\(second)") { $0.number == first || $0.number == second }
    }

    static func fraction(_ value: Double) -> QueryModelTerm {
        QueryModelTerm(text: "d=\(value)") { $0.fraction == value }
    }

    static func word(_ sign: String, _ part: String) -> QueryModelTerm {
        QueryModelTerm(text: "s\(sign)\(part)") { record in
            guard let word = record.word else { return sign == "!=" }
            return switch sign {
            case "=": word == part
            case "!=": word != part
            case "~": word.lowercased().contains(part.lowercased())
            default: word.hasPrefix(part)
            }
        }
    }

    static func tag(_ tag: String) -> QueryModelTerm {
        QueryModelTerm(text: "tags=\(tag)") { $0.tags?.contains(tag) == true }
    }

    static func exists(_ field: String, _ isThere: Bool) -> QueryModelTerm {
        QueryModelTerm(text: isThere ? field : "!\(field)") { record in
            let has =
                switch field {
                case "n": record.number != nil
                case "d": record.fraction != nil
                case "s": record.word != nil
                default: record.tags != nil
                }
            return has == isThere
        }
    }

    /// Two terms of which one has to hold.
    func or(_ other: QueryModelTerm) -> QueryModelTerm {
        QueryModelTerm(text: "\(text)|\(other.text)") { holds($0) || other.holds($0) }
    }
}
