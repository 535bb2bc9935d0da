package import RecordModel

/// A relationship of an entity, and how records hold it.
package struct Relation: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        /// A key of the object itself.
        case key(field: FieldName)
        /// The keys of the objects at the other side.
        case keys(field: FieldName)
        /// Records of their own, `CDMR`, one for each pair.
        case links
    }

    package let name: FieldName
    package let form: Form
    /// The relationship of the other side, where it leads back.
    package let inverse: FieldName?
    /// Indicates whether the other side has one object at most.
    package let hasOneInverse: Bool
    package let deleteRule: Relationship.DeleteRule
    /// The entities at the two sides as a `CDMR` record names them: those that declare the
    /// relationship and its inverse.
    package let owner: String
    package let destination: String
    /// The types of the objects to which the relationship may lead.
    private let targets: Set<RecordTypeName>
    /// The least and the greatest number of objects of a to-many relationship that has any.
    package let minimumCount: Int?
    package let maximumCount: Int?

    static func all(of entity: String, in hierarchy: ModelHierarchy) -> [Relation] {
        hierarchy.line(of: entity).flatMap { ancestor in
            ancestor.relationships.compactMap { Relation($0, of: ancestor.name, in: hierarchy) }
        }
    }

    private init?(_ relationship: Relationship, of owner: String, in hierarchy: ModelHierarchy) {
        let back = relationship.inverse.flatMap {
            hierarchy.relationship($0, of: relationship.destination)
        }
        name = FieldName(relationship.name)
        inverse = back.map { FieldName($0.name) }
        hasOneInverse = back?.isToMany == false
        deleteRule = relationship.deleteRule
        self.owner = owner
        destination = relationship.destination
        targets = Set(hierarchy.family(of: destination).map { RecordTypeName($0.name) })
        minimumCount = relationship.isToMany ? relationship.minimumCount : nil
        maximumCount = relationship.isToMany ? relationship.maximumCount : nil
        if !relationship.isToMany {
            form = .key(field: MirroredSchema.field(of: relationship.name))
        } else if let back, back.isToMany {
            form = .links
        } else if let back {
            form = .keys(field: MirroredSchema.field(of: back.name))
        } else {
            return nil
        }
    }
}

extension Relation {
    /// Returns whether objects of a type can be at the other side.
    package func leads(to type: RecordTypeName) -> Bool { targets.contains(type) }

    /// Indicates whether the model says how many objects the relationship has.
    package var hasCounts: Bool { minimumCount != nil || maximumCount != nil }

    /// Returns what is wrong with the number of objects. Nil for a number that the model wants. Every
    /// relationship in CloudKit is optional, so none is no problem.
    package func problem(ofCount count: Int) -> String? {
        guard count > 0 else { return nil }
        // A model has 0 for no limit, too.
        let wanted: String
        if let least = minimumCount, count < least {
            wanted = "at least \(least)"
        } else if let most = maximumCount, most > 0, count > most {
            wanted = "at most \(most)"
        } else {
            return nil
        }
        return
            "\"\(name)\" has \(count) \(count == 1 ? "object" : "objects"), and the model wants \(wanted)"
    }
}

/// A link of two objects in a many-to-many relationship, as a `CDMR` record holds it.
package struct ObjectLink: Hashable, Sendable {
    /// One of the two objects.
    package struct End: Hashable, Sendable {
        package let entity: String
        package let record: RecordName
        /// The relationship of this object that leads to the other one.
        package let relationship: FieldName

        package init(entity: String, record: RecordName, relationship: FieldName) {
            self.entity = entity
            self.record = record
            self.relationship = relationship
        }
    }

    package let first: End
    package let second: End

    /// Creates a link in the order of Core Data: by entity, then by relationship, whatever the case.
    package init(_ one: End, _ other: End) {
        let isInOrder =
            Self.order(one).lexicographicallyPrecedes(Self.order(other))
            || Self.order(one) == Self.order(other)
        (first, second) = isInOrder ? (one, other) : (other, one)
    }

    private static func order(_ end: End) -> [String] {
        [end.entity.lowercased(), "\(end.relationship)".lowercased()]
    }

    /// Reads a link of a `CDMR` record. Returns nil for one that names no two objects: it links
    /// nothing.
    package init?(_ fields: [RecordField]) {
        func halves(_ name: String) -> (Text, Text)? {
            guard
                case .string(let text)? = fields.first(where: { $0.name == FieldName(name) })?.value
            else { return nil }
            // Apple's text says that a semicolon separates the names, and its records have a colon.
            let separator = text.utf8.contains(UInt8(ascii: ":")) ? ":" : ";" as Unicode.Scalar
            let parts = text.utf8.split(
                separator: UInt8(ascii: separator), omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
            return (Text(utf8: Array(parts[0])), Text(utf8: Array(parts[1])))
        }
        guard let entities = halves("CD_entityNames"), let records = halves("CD_recordNames"),
            let relationships = halves("CD_relationships")
        else { return nil }
        first = End(
            entity: entities.0.description, record: RecordName(bytes: records.0.utf8),
            relationship: FieldName(bytes: relationships.0.utf8))
        second = End(
            entity: entities.1.description, record: RecordName(bytes: records.1.utf8),
            relationship: FieldName(bytes: relationships.1.utf8))
    }

    /// The fields of the link's record.
    package var fields: [RecordField] {
        func field(_ name: String, _ one: [UInt8], _ other: [UInt8]) -> RecordField {
            RecordField(
                name: FieldName(name),
                value: .string(Text(utf8: one + [UInt8(ascii: ":")] + other)))
        }
        return [
            field("CD_entityNames", Array(first.entity.utf8), Array(second.entity.utf8)),
            field("CD_recordNames", first.record.bytes, second.record.bytes),
            field("CD_relationships", first.relationship.bytes, second.relationship.bytes),
        ]
    }
}
