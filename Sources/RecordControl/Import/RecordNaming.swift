import RecordModel
import RecordStore

/// Gives each imported row its record name.
///
/// First of: the field that the user names, the member `$name` that an export writes, the key or
/// file name that the source gives, the first of `candidates` that is different in every row,
/// `row-HASH` of all that the row says, so that rows of different sources never meet and a row that
/// comes again is the record that it was.
struct RecordNaming {
    /// Fields that usually tell rows apart, the surest first.
    static let candidates = [
        "id", "_id", "uuid", "identifier", "key", "code", "alpha_3", "alpha_2", "alpha_4", "slug",
        "name",
    ]

    private let plan: NamePlan
    static let nameKey = Array(RecordExport.nameMember.utf8)

    /// How often each content was met.
    private var contents: [String: Int] = [:]
    /// The line, or the number, of the row that has a name, by the name's hash.
    private var places: [Int: Int] = [:]

    init(_ plan: NamePlan) {
        self.plan = plan
    }

    /// The stem of the row's file, and the row's fields without what only names it.
    ///
    /// - Parameter number: of the row in its source, from 1.
    /// Errors: `invalidRecord` when the row has no usable name, `alreadyExists` when an earlier
    /// row has it, `nameTooLong`.
    mutating func name(
        _ row: ImportRow, number: Int
    ) throws(RecordError) -> (stem: Stem, content: ImportRow.Content) {
        var content = row.content
        let name: RecordName
        if case .fields(let members) = content {
            name = try self.name(members, row, number)
            if members.contains(where: Self.isOfExport) {
                content = .fields(members.filter { !Self.isOfExport($0) })
            }
        } else {
            name = row.key ?? RecordName("row-\(number)")
        }
        guard !name.bytes.isEmpty, name.bytes.count <= 255 else {
            throw RecordError(.nameTooLong, "a record name has 1 to 255 bytes")
        }
        let place = row.sharesLine ? number : row.line
        if let earlier = places.updateValue(place, forKey: name.hashValue) {
            places[name.hashValue] = earlier
            let what = row.sharesLine ? "row" : "line"
            throw RecordError(
                .alreadyExists,
                "\"\(name)\" is already the name of \(what) \(earlier). Choose a field that differs in "
                    + "every row with --name-field.")
        }
        return (Stem(encoding: name), content)
    }

    static func isNameMember(_ member: JSONMember) -> Bool {
        member.key.utf8.elementsEqual(RecordExport.nameMember.utf8)
    }

    /// What an export writes beside the fields.
    private static func isOfExport(_ member: JSONMember) -> Bool {
        isNameMember(member) || TypeHints.isTypes(member)
    }

    private mutating func name(
        _ members: [JSONMember], _ row: ImportRow, _ number: Int
    ) throws(RecordError) -> RecordName {
        if !plan.isExplicit {
            if let member = members.first(where: Self.isNameMember) {
                return try Self.name(from: member)
            }
            if let key = row.key { return key }
        }
        guard case .member(let key) = plan.rule else { return contentName(row.raw ?? members) }
        guard let member = members.first(where: { $0.key == key }) else {
            throw RecordError(.invalidRecord, "the row has no \"\(key)\", which names the records")
        }
        return try Self.name(from: member)
    }

    /// The same for the same values, in whatever order they stand; rows of one source that say the
    /// same are told apart by a number.
    private mutating func contentName(_ members: [JSONMember]) -> RecordName {
        let values = members.filter { !$0.value.isNull && !TypeHints.isTypes($0) }
        let text = JSONValue.object(values).withSortedMembers.serialized()
        let name = "row-\(SHA256.hash(text).hex.prefix(16))"
        let count = contents[name, default: 0] + 1
        contents[name] = count
        return RecordName(count == 1 ? name : "\(name)-\(count)")
    }

    static func name(from member: JSONMember) throws(RecordError) -> RecordName {
        switch member.value {
        case .string(let text) where !text.utf8.isEmpty: return RecordName(bytes: text.utf8)
        case .number(let number): return RecordName(bytes: number.spelling)
        default:
            throw RecordError(
                .invalidRecord,
                "\"\(member.key)\" names the record and must be a string or a number")
        }
    }
}
