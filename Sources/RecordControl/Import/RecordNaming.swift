package import RecordModel
import RecordStore

/// Chooses the record name of each imported row.
///
/// First of: the field that the user names, the member `$name` that an export writes, the key or
/// file name that the source gives, the first of `candidates` that the first row has, `line-N`.
package struct RecordNaming {
    /// Fields that usually tell rows apart, the surest first.
    package static let candidates = [
        "id", "_id", "uuid", "identifier", "key", "code", "alpha_3", "alpha_2", "alpha_4", "slug",
        "name",
    ]
    private enum Rule {
        case undecided
        case field([UInt8])
        case line
    }

    private var rule: Rule
    private let isExplicit: Bool
    private var linesByName: [Int: Int] = [:]

    package init(field: String? = nil) {
        rule = field.map { .field(Array($0.utf8)) } ?? .undecided
        isExplicit = field != nil
    }

    /// What names the records, for the report; nil before the first row or when each names itself.
    package var fieldName: String? {
        if case .field(let name) = rule { String(decoding: name, as: UTF8.self) } else { nil }
    }

    /// The stem of the row's file, and the row's fields without what only names it.
    ///
    /// Errors: `invalidRecord` when the row has no usable name, `alreadyExists` when an earlier
    /// row has it, `nameTooLong`.
    package mutating func name(
        _ row: ImportRow
    ) throws(RecordError) -> (stem: Stem, content: ImportRow.Content) {
        var content = row.content
        let name: RecordName
        if case .fields(let members) = content {
            name = try self.name(members, row)
            if members.contains(where: Self.isNameMember) {
                content = .fields(members.filter { !Self.isNameMember($0) })
            }
        } else if let key = row.key {
            name = key
        } else {
            name = RecordName("line-\(row.line)")
        }
        guard !name.bytes.isEmpty, name.bytes.count <= 255 else {
            throw RecordError(.nameTooLong, "a record name has 1 to 255 bytes.")
        }
        if let earlier = linesByName.updateValue(row.line, forKey: name.hashValue) {
            linesByName[name.hashValue] = earlier
            throw RecordError(
                .alreadyExists,
                "\"\(name)\" is already the name of line \(earlier). Choose a field that differs "
                    + "in every row with --name-field.")
        }
        return (Stem(encoding: name), content)
    }

    private static func isNameMember(_ member: JSONMember) -> Bool {
        member.key.utf8.elementsEqual(RecordExport.nameMember.utf8)
    }

    private mutating func name(
        _ members: [JSONMember], _ row: ImportRow
    ) throws(RecordError) -> RecordName {
        if !isExplicit {
            if let member = members.first(where: Self.isNameMember) {
                return try Self.name(from: member)
            }
            if let key = row.key { return key }
        }
        if case .undecided = rule { rule = Self.rule(for: members) }
        guard case .field(let field) = rule else { return RecordName("line-\(row.line)") }
        guard let member = members.first(where: { $0.key.utf8 == field }) else {
            let text = String(decoding: field, as: UTF8.self)
            throw RecordError(
                .invalidRecord, "the row has no \"\(text)\", which names the records.")
        }
        return try Self.name(from: member)
    }

    private static func rule(for members: [JSONMember]) -> Rule {
        for candidate in candidates {
            let key = Array(candidate.utf8)
            guard let member = members.first(where: { $0.key.utf8 == key }) else { continue }
            switch member.value {
            case .string, .number: return .field(key)
            default: continue
            }
        }
        return .line
    }

    private static func name(from member: JSONMember) throws(RecordError) -> RecordName {
        switch member.value {
        case .string(let text) where !text.utf8.isEmpty: return RecordName(bytes: text.utf8)
        case .number(let number): return RecordName(bytes: number.spelling)
        default:
            throw RecordError(
                .invalidRecord,
                "\"\(member.key)\" names the record and must be a string or a number.")
        }
    }
}
