import RecordModel

/// The part of a text without a record, or without one yet, that this user has written: the text
/// without the content of other people's texts.
///
/// A text that is JSON loses the members that others have with the same value. Another text, as an
/// editor may have left it, loses the lines that others have. In its other lines, strings that
/// others have between quotation marks are removed.
struct OwnWords {
    /// The length below which anybody could have written a text.
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

    /// Removes the content of a text that others have written.
    ///
    /// - Parameter isSame: whether the text comes from the same record, so that every value counts
    ///   and not only a distinctive one.
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

    /// Removes a text wherever it appears.
    private mutating func remove(_ text: [UInt8]) {
        for index in lines.indices where lines[index].count >= text.count {
            let replaced = lines[index].replacing(text, with: Array("…".utf8))
            guard replaced != lines[index] else { continue }
            lines[index] = replaced
            hasForeign = true
        }
    }

    /// The remaining text. Nil when nothing is left.
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
    /// Indicates whether the value is distinctive: a person with the same value in the same field
    /// has taken it from there. Numbers and words that many people use are not distinctive.
    fileprivate var tells: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.utf8.count >= 8
        case .array(let elements): elements.contains(where: \.tells)
        case .object(let members): members.contains { $0.value.tells }
        }
    }

    /// All texts in it, as they appear between quotation marks.
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
    /// Indicates the same for a value of a record.
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

    /// Returns whether it is the value of another record, whose files have other names.
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
    /// The bytes without blanks around them and without the comma after them.
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
