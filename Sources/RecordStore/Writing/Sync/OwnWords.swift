import RecordModel

/// What of a text that is no record, or not yet, this user has written himself: without what texts of
/// others say.
///
/// A text that is JSON loses the members that others have with the same value. Of one that is not, as an
/// editor may have left it, the lines go that others have, and between the quotation marks of the rest
/// what others have there.
struct OwnWords {
    /// Shorter texts anybody would write.
    static let fewestBytes = 4

    private var members: [JSONMember]?
    private var lines: [[UInt8]]
    private(set) var hasForeign = false
    private let whole: [UInt8]

    init(_ text: [UInt8]) {
        whole = text
        do throws(RecordError) {
            members = try JSONParser.parse(text).object
        } catch {
            members = nil
        }
        lines = members == nil ? text.split(separator: newline).map(Array.init) : []
    }

    /// Takes away what a text of others says.
    ///
    /// - Parameter isSame: whether it is the record that this text was, so that each value counts and not
    ///   only those that tell something.
    mutating func remove(_ foreign: [UInt8], isSame: Bool) {
        let value: JSONValue
        do throws(RecordError) {
            value = try JSONParser.parse(foreign)
        } catch {
            return
        }
        if let members {
            let own = members.filter { member in
                guard let theirs = value[member.key.string], theirs == member.value else {
                    return true
                }
                return !isSame && !theirs.tells
            }
            if own.count < members.count { hasForeign = true }
            self.members = own
        } else {
            removeLines(of: foreign)
            for text in value.texts where text.count >= Self.fewestBytes { remove(text) }
        }
    }

    private mutating func removeLines(of foreign: [UInt8]) {
        let theirs = Set(foreign.split(separator: newline).map { $0.trimmed })
        let own = lines.filter { line in
            let trimmed = line.trimmed
            return trimmed.count < Self.fewestBytes || !theirs.contains(trimmed)
        }
        if own.count < lines.count { hasForeign = true }
        lines = own
    }

    /// Takes a text away wherever it stands.
    private mutating func remove(_ text: [UInt8]) {
        for index in lines.indices where lines[index].count >= text.count {
            let replaced = lines[index].replacing(text, with: Array("…".utf8))
            guard replaced != lines[index] else { continue }
            lines[index] = replaced
            hasForeign = true
        }
    }

    /// Nil when nothing is left.
    var text: [UInt8]? {
        guard hasForeign else { return whole.isEmpty ? nil : whole }
        if let members {
            let own = members.filter { !$0.key.utf8.starts(with: [UInt8(ascii: "$")]) }
            guard !own.isEmpty else { return nil }
            return JSONValue.object(own).serialized(pretty: true) + [newline]
        }
        let own = lines.filter { line in line.contains { $0.isWordByte } }
        guard !own.isEmpty else { return nil }
        return Array(own.joined(separator: [newline])) + [newline]
    }
}

private let newline = UInt8(ascii: "\n")

extension JSONValue {
    /// Whether who has the same value in the same field has it from there: not numbers and words that many
    /// use.
    fileprivate var tells: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.utf8.count >= 8
        case .array(let elements): elements.contains(where: \.tells)
        case .object(let members): members.contains { $0.value.tells }
        }
    }

    /// All texts in it, as they stand between quotation marks.
    fileprivate var texts: [[UInt8]] {
        switch self {
        case .null, .bool, .number: []
        case .string: [Array(serialized().dropFirst().dropLast())]
        case .array(let elements): elements.flatMap(\.texts)
        case .object(let members): members.flatMap(\.value.texts)
        }
    }
}

extension FieldValue {
    /// The same of a value of a record.
    var tells: Bool {
        switch self {
        case .int64, .double, .timestamp, .reference: false
        case .string(let text): text.utf8.count >= 8
        case .bytes(let bytes): bytes.count >= 8
        case .location, .asset: true
        case .json(let json): json.tells
        case .list(let values): values.contains(where: \.tells)
        }
    }

    /// Whether it is the value of another record, whose files have other names.
    func isCopy(of other: FieldValue) -> Bool {
        switch (self, other) {
        case (.asset(let mine), .asset(let theirs)):
            return mine.sha256 != nil && mine.sha256 == theirs.sha256
        case (.list(let mine), .list(let theirs)):
            return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isCopy(of: $1) }
        default: return isSame(as: other)
        }
    }
}

extension Sequence<UInt8> {
    /// Without blanks around it, nor the comma behind it.
    fileprivate var trimmed: [UInt8] {
        let blanks: Set<UInt8> = [9, 13, 32, UInt8(ascii: ",")]
        let rest = drop { blanks.contains($0) }
        return Array(rest.reversed().drop { blanks.contains($0) }.reversed())
    }
}

extension UInt8 {
    fileprivate var isWordByte: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...0xff:
            true
        default: false
        }
    }
}
