import RecordModel
import RecordStore

/// The types that an export writes for fields whose values alone do not show them.
enum TypeHints {
    /// The beginning of the header cell of a table that has them: `$types n=DOUBLE when=TIMESTAMP`.
    static let prefix = Array("\(RecordExport.typesMember) ".utf8)

    static func parse(header: [UInt8]) -> [Text: FieldType] {
        var types: [Text: FieldType] = [:]
        for word in header.split(separator: 0x20).dropFirst() {
            let parts = word.split(separator: UInt8(ascii: "="))
            guard parts.count == 2,
                let type = FieldType(name: String(decoding: parts[1], as: UTF8.self))
            else { continue }
            types[Text(utf8: Array(parts[0]))] = type
        }
        return types
    }

    /// Reads the types of the first row of JSON and NDJSON, an object of names and types.
    static func parse(_ value: JSONValue) -> [Text: FieldType] {
        var types: [Text: FieldType] = [:]
        for member in value.object ?? [] {
            types[member.key] = member.value.string.flatMap { FieldType(name: $0.string) }
        }
        return types
    }

    static func isTypes(_ member: JSONMember) -> Bool {
        member.key.utf8.elementsEqual(RecordExport.typesMember.utf8)
    }
}
