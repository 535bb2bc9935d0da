package import RecordModel

/// The common properties of all rows of a source, before the first is stored.
package struct ImportPlan: Sendable {
    package struct Field: Sendable {
        package let name: FieldName
        /// The type. It is nil when no row has a value for the field.
        package let type: FieldType?
        /// Indicates whether the schema of the target already has the field, which therefore keeps
        /// that type.
        package let isKnown: Bool
        /// Indicates whether its numbers in a table have a comma before the fraction.
        package var hasDecimalComma = false
        /// Indicates whether the texts of a new field were found to be points in time.
        package var isFoundTime = false
    }

    package internal(set) var rowCount = 0
    /// The number of rows of a table with fewer cells than its header.
    package internal(set) var shortRowCount = 0
    /// The fields, in the order in which the rows have them.
    package internal(set) var fields: [Field] = []
    package internal(set) var naming = FieldNaming()
    package internal(set) var names = NamePlan()
    /// The way to read the columns of a table.
    var columns: [CSVColumn.Reading]?
    /// The header of a table as it is written.
    package internal(set) var header: [Text]?
    /// The names of all fields in the source. Its rows do not change other fields.
    package internal(set) var spokenFields: [Text] = []
    /// The line at which the reading of a table ends early.
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

/// The rule that gives the rows their record names.
package struct NamePlan: Sendable {
    package enum Rule: Sendable, Equatable {
        /// The value of the member with this key of the source.
        case member(Text)
        /// `row-HASH`, a hash of all values of the row.
        case content
    }

    package internal(set) var rule = Rule.content
    package internal(set) var isExplicit = false
    /// Indicates whether any row needs the rule, because neither a key nor `$name` gives it a name.
    package internal(set) var isUsed = false
    /// A field that usually names rows but does not in this source, and the reason.
    package internal(set) var unsuitable: (key: Text, reason: String)?
}
