package import RecordModel

/// What all rows of a source say together, before the first is stored.
package struct ImportPlan: Sendable {
    package struct Field: Sendable {
        package let name: FieldName
        /// nil when no row has a value for it.
        package let type: FieldType?
        /// Whether it stands in the schema of the target already, and so keeps that type.
        package let isKnown: Bool
        /// Whether its numbers in a table have a comma before the fraction.
        package var hasDecimalComma = false
        /// Whether the texts of a new field were found to be points in time.
        package var isFoundTime = false
    }

    package internal(set) var rowCount = 0
    /// Rows of a table with fewer cells than its header.
    package internal(set) var shortRowCount = 0
    /// In the order in which the rows have them.
    package internal(set) var fields: [Field] = []
    package internal(set) var naming = FieldNaming()
    package internal(set) var names = NamePlan()
    /// How the columns of a table are read.
    var columns: [CSVColumn.Reading]?
    /// The header of a table as it stands.
    package internal(set) var header: [Text]?
    /// The names of all fields that the source speaks of; a row says nothing of others.
    package internal(set) var spokenFields: [Text] = []
    /// The line at which a table breaks off.
    package internal(set) var endLine: Int?

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
        /// `row-HASH`, of all that the row says.
        case content
    }

    package internal(set) var rule = Rule.content
    package internal(set) var isExplicit = false
    /// Whether any row needs the rule, because it names itself neither by a key nor by `$name`.
    package internal(set) var isUsed = false
    /// Why a field that usually names rows does not: it, and what is wrong with it.
    package internal(set) var unsuitable: (key: Text, reason: String)?
}
