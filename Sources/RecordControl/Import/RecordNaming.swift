import RecordModel
import RecordStore

/// Gives each imported row its record name.
///
/// The first of these that exists gives the name: the field that the user names; the member `$name`
/// that an export writes; the key or file name that the source gives; the first of `candidates`
/// that is different in every row; `row-HASH`, a hash of all values of the row. With the hash, rows
/// of different sources do not replace each other, and a row that is imported again is the same
/// record.
struct RecordNaming {
    /// Fields that usually distinguish rows, the most reliable first.
    static let candidates = [
        "id", "_id", "uuid", "identifier", "key", "code", "alpha_3", "alpha_2", "alpha_4", "slug",
        "name",
    ]

    private let plan: NamePlan
    static let nameKey = Array(RecordExport.nameMember.utf8)

    /// The number of rows with each content so far.
    private var contents: [String: Int] = [:]
    /// The line, or the number, of the row that has a name, by the name's hash.
    private var places: [Int: Int] = [:]

    init(_ plan: NamePlan) {
        self.plan = plan
    }

    /// Returns the stem of the row's file, and the row's fields without those that only name it.
    ///
    /// - Parameter number: the number of the row in its source, from 1.
    /// Errors: `invalidRecord` when the row has no usable name, `alreadyExists` when an earlier row
    /// has it, `nameTooLong`.
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

    /// Returns whether the member is one that an export writes beside the fields.
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

    /// Returns the name for a row by its values. Equal values in any order give the same name. Rows
    /// of one source with the same values get different numbers.
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
