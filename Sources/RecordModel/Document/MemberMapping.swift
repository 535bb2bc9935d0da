/// The members of a record's text where a model gives fields other names and forms: `title` for
/// `CD_title`, `true` for 1, a date in quotes for a TIMESTAMP.
///
/// A text may use the name of a field itself, as a machine without the model writes it. The mapping
/// has no effect on values: a field is the same under both names.
package struct MemberMapping: Hashable, Sendable {
    /// The form of a value in the text.
    package enum Form: Hashable, Sendable {
        /// The plain form of the field's type.
        case plain
        /// `true` or `false` for 1 and 0.
        case boolean
        /// A decimal number in quotes that a DOUBLE holds exactly.
        case decimal
        /// A UUID in quotes, upper-case in the field.
        case uuid
        /// The name of another object: the key of a to-one relationship.
        case key
    }

    package struct Member: Hashable, Sendable {
        package let name: FieldName
        package let field: FieldName
        package let type: FieldType
        package let form: Form
        package let rule: MemberRule?
        /// Indicates whether an object must have a value.
        package let isRequired: Bool
        /// The value of new objects, as a text has it. Nil for none.
        package let initial: JSONValue?

        package init(
            _ name: FieldName, field: FieldName, type: FieldType, form: Form = .plain,
            rule: MemberRule? = nil, isRequired: Bool = false, initial: JSONValue? = nil
        ) {
            self.name = name
            self.field = field
            self.type = type
            self.form = form
            self.rule = rule
            self.isRequired = isRequired
            self.initial = initial
        }
    }

    /// The beginning of the fields of the server's records.
    package static let fieldPrefix = "CD_"

    /// The name of the entity, for messages.
    package let entity: String
    package let members: [Member]
    /// The to-many relationships. Their members are lists of names, which no field holds: the keys
    /// of other records do.
    package let lists: Set<FieldName>
    /// A field that each record has with this value, and that no text shows.
    package let constant: RecordField
    private let placesByName: [FieldName: Int]
    private let placesByField: [FieldName: Int]

    package init(
        entity: String, members: [Member], lists: Set<FieldName> = [], constant: RecordField
    ) {
        self.entity = entity
        self.members = members
        self.lists = lists
        self.constant = constant
        placesByName = Dictionary(
            members.enumerated().map { ($0.element.name, $0.offset) },
            uniquingKeysWith: { first, _ in first })
        placesByField = Dictionary(
            members.enumerated().map { ($0.element.field, $0.offset) },
            uniquingKeysWith: { first, _ in first })
    }

    package func member(named name: FieldName) -> Member? {
        placesByName[name].map { members[$0] }
    }

    package func member(of field: FieldName) -> Member? {
        placesByField[field].map { members[$0] }
    }

    /// The names of the members, for messages.
    var shownNames: String {
        let names = members.map(\.name) + lists.sorted()
        let shown = names.prefix(Self.namesShown).map { "\"\($0)\"" }
        return (shown + (names.count > Self.namesShown ? ["..."] : [])).joined(separator: ", ")
    }

    private static let namesShown = 12

    /// Returns the type of an attribute whose long values are in an asset beside the field. Nil for
    /// every other field.
    package func longType(of field: FieldName) -> FieldType? {
        guard let member = member(of: field), member.form == .plain,
            member.type == .string || member.type == .bytes
        else { return nil }
        return member.type
    }

    /// Returns the name that a text has for a field.
    package func name(of field: FieldName) -> FieldName { member(of: field)?.name ?? field }

    /// Returns the field of a name in a text.
    package func field(of name: FieldName) -> FieldName { member(named: name)?.field ?? name }
}
