package import RecordModel

/// What all rows of a source say together, before the first is stored.
package struct ImportPlan: Sendable {
    package struct Field: Sendable {
        package let name: FieldName
        /// nil when no row has a value for it.
        package let type: FieldType?
        /// Whether it stands in the schema of the target already, and so keeps that type.
        package let isKnown: Bool
    }

    package internal(set) var rowCount = 0
    /// Rows of a table with fewer cells than its header.
    package internal(set) var shortRowCount = 0
    /// In the order in which the rows have them.
    package internal(set) var fields: [Field] = []
    package internal(set) var naming = FieldNaming()
    package internal(set) var names = NamePlan()
    /// How the columns of a table are read.
    var columns: [CSVRows.Column]?

    package init() {}

    /// The fields that are new to the schema, with their types.
    package var newFields: [(name: FieldName, type: FieldType)] {
        fields.compactMap { field in
            guard !field.isKnown, let type = field.type else { return nil }
            return (field.name, type)
        }
    }

    /// The new fields that have type JSON because their plain values have no other in common.
    package internal(set) var mixedFields: [FieldName] = []
}

/// What gives the rows their record names.
package struct NamePlan: Sendable {
    package enum Rule: Sendable, Equatable {
        /// The value of the member with this key of the source.
        case member(Text)
        /// `row-N`.
        case row
    }

    package internal(set) var rule = Rule.row
    package internal(set) var isExplicit = false
    /// Whether any row needs the rule, because it names itself neither by a key nor by `$name`.
    package internal(set) var isUsed = false
    /// Why a field that usually names rows does not: it, and what is wrong with it.
    package internal(set) var unsuitable: (key: Text, reason: String)?
}
