import RecordModel
package import RecordWire

/// A query whose values have the types of the schema, ready to be asked of records.
package struct QueryEvaluator: Sendable {
    /// Errors: BAD_REQUEST for an unknown type or field, a value of another type, or a missing
    /// index; the reason says which and how to add it.
    package init(query: WireQuery, schema: ContainerSchema) throws(ServerError) {}

    /// Whether the record, with these (decoded) fields, is of the query's type and passes all
    /// filters. References without a zone are to records of `zone`; without it zones do not count.
    package func matches(
        _ record: StoredRecord, fields: [WireField], zone: ZoneKey? = nil
    ) -> Bool { false }
}
