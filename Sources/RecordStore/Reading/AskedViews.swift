import RecordModel

/// The views of a store's own tables that a question in SQL may read, in a database that has attached
/// the store as `store`.
package enum AskedViews {
    /// The statements that make the views.
    ///
    /// - `_history`: the accepted changes.
    /// - `_records`: the records with what the server knows of them, and what waits.
    /// - `_types`: the fields of each record type.
    package static let statements = [
        """
            CREATE TEMP VIEW _history AS
            SELECT h.token AS token, \(time("h.at")) AS time,
                coalesce(h.program,
                    (SELECT g.origin FROM store.gesture g WHERE g.id = h.gesture),
                    h.author) AS author, h.kind AS kind,
                \(database) AS database, \(text("z.owner")) AS owner, \(text("z.name")) AS zone,
                \(text("h.type")) AS type, \(text("h.name")) AS name, \(text("h.text")) AS text
            FROM store.history h JOIN store.zone z ON z.id = h.zone_id
        """,
        """
            CREATE TEMP VIEW _records AS
            SELECT \(database) AS database, \(text("z.owner")) AS owner, \(text("z.name")) AS zone,
                \(text("t.name")) AS type, \(text("r.name")) AS name,
                \(time("r.created")) AS created, r.created_by AS createdBy,
                \(time("r.changed")) AS modified, r.changed_by AS modifiedBy,
                r.generation AS generation,
                (SELECT b.change_tag FROM store.base b WHERE b.record_id = r.id) AS changeTag,
                EXISTS (SELECT 1 FROM store.outbox o
                    WHERE o.zone_id = r.zone_id AND o.name = r.name) AS isPending,
                (SELECT o.error FROM store.outbox o WHERE o.zone_id = r.zone_id
                    AND o.name = r.name AND o.error IS NOT NULL) AS error
            FROM store.record r JOIN store.zone z ON z.id = r.zone_id
            JOIN store.record_type t ON t.id = r.type_id WHERE r.state = 0
        """,
        """
            CREATE TEMP VIEW _types AS
            SELECT \(text("f.type")) AS type, \(text("f.field")) AS field,
                f.field_type AS fieldType
            FROM store.schema_field f ORDER BY f.type, f.position
        """,
    ]

    /// Nanoseconds as ISO 8601.
    private static func time(_ column: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', \(column) / 1e9, 'unixepoch')"
    }

    private static func text(_ column: String) -> String { "CAST(\(column) AS TEXT)" }

    private static let database =
        "CASE z.database "
        + Database.allCases.map { "WHEN \($0.rawValue) THEN '\($0.name)' " }.joined() + "END"
}
