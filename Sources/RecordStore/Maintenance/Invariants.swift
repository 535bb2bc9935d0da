import RecordModel

/// A rule for the rows of every store, as a query for the rows that break it.
struct Invariant {
    /// The message; `%@` stands for the first column of the query.
    let sentence: String
    let query: String

    static let all = texts + states + values + numbers

    private static let texts = [
        Invariant(
            sentence: "Record %@ is saved without a text.",
            query: """
                SELECT stem FROM record r WHERE state != 1
                    AND NOT EXISTS (SELECT 1 FROM saved_text t WHERE t.record_id = r.id)
                """),
        Invariant(
            sentence: "The size of record %@ is not that of its text.",
            query: """
                SELECT stem FROM record r JOIN saved_text t ON t.record_id = r.id
                WHERE flags & 1 = 0 AND size != length(text)
                """),
        Invariant(
            sentence: "The size of the draft %@ is not that of its text.",
            query: """
                SELECT stem FROM record r JOIN draft d ON d.record_id = r.id
                WHERE flags & 1 = 1 AND size != length(text)
                """),
    ]

    private static let states = [
        Invariant(
            sentence: "Record %@ is saved without a name.",
            query: "SELECT stem FROM record WHERE state != 1 AND name IS NULL"),
        Invariant(
            sentence: "The draft flag of record %@ is wrong.",
            query: """
                SELECT stem FROM record r WHERE (flags & 1 != 0)
                    != EXISTS (SELECT 1 FROM draft d WHERE d.record_id = r.id)
                """),
        Invariant(
            sentence: "The asset flag of record %@ is wrong.",
            query: """
                SELECT stem FROM record r WHERE flags & 2 = 0
                    AND EXISTS (SELECT 1 FROM asset a WHERE a.record_id = r.id)
                """),
        Invariant(
            sentence: "Record %@ waits for its deletion without a time.",
            query: "SELECT stem FROM record WHERE (state = 2) != (waiting_since IS NOT NULL)"),
        Invariant(
            sentence: "Record %@ is marked as still to come, although it is there. Save it again.",
            query: "SELECT stem FROM record WHERE flags & 4 != 0 AND state != 1"),
        Invariant(
            sentence: "Record %@ was never saved and has a text.",
            query: """
                SELECT stem FROM record r WHERE state = 1
                    AND EXISTS (SELECT 1 FROM saved_text t WHERE t.record_id = r.id)
                """),
        Invariant(
            sentence: "An outgoing change of %@ has no record.",
            query: """
                SELECT name FROM outbox o WHERE operation != 3 AND batch = 0
                    AND NOT EXISTS (SELECT 1 FROM record r WHERE r.id = o.record_id)
                """),
        Invariant(
            sentence: "An outgoing change of %@ is of another type than its record.",
            query: """
                SELECT o.name FROM outbox o JOIN record r ON r.id = o.record_id
                    JOIN record_type t ON t.id = r.type_id
                WHERE o.operation != 3 AND o.batch = 0 AND o.type != t.name
                """),
        Invariant(
            sentence: "The version of record %@ that the server has is not in its history.",
            query: """
                SELECT stem FROM base b JOIN record r ON r.id = b.record_id
                WHERE b.version IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM history h WHERE h.token = b.version)
                """),
        Invariant(
            sentence: "An outgoing change of %@ is of a version that is not in history.",
            query: """
                SELECT name FROM outbox o
                WHERE (sent IS NOT NULL
                        AND NOT EXISTS (SELECT 1 FROM history h WHERE h.token = sent))
                    OR (base_version IS NOT NULL
                        AND NOT EXISTS (SELECT 1 FROM history h WHERE h.token = base_version))
                """),
        Invariant(
            sentence: "Record %@ is of a zone that its type is not of.",
            query: """
                SELECT stem FROM record r JOIN record_type t ON t.id = r.type_id
                WHERE t.zone_id != r.zone_id
                """),
        Invariant(
            sentence: "Record %@ is in a record type that was removed.",
            query: """
                SELECT stem FROM record r JOIN record_type t ON t.id = r.type_id
                WHERE t.removed = 1 AND r.state != 2
                """),
    ]

    /// The rules for numbers and words with only a few permitted values.
    private static let values = [
        Invariant(
            sentence: "Record %@ is in an unknown state.",
            query:
                "SELECT stem FROM record WHERE state NOT IN (0, 1, 2) OR flags < 0"),
        Invariant(
            sentence: "The zone %@ has an unknown database, permission or mapping.",
            query: """
                SELECT name FROM zone WHERE database NOT IN (1, 2, 3, 4)
                    OR permission NOT IN (0, 1, 2) OR mapping != 'plain' OR removed NOT IN (0, 1)
                """),
        Invariant(
            sentence: "An asset of record %@ is of an unknown kind.",
            query: """
                SELECT stem FROM asset JOIN record r ON r.id = record_id
                WHERE kind NOT IN (0, 1) OR downloaded NOT IN (0, 1) OR idx < -1
                """),
        Invariant(
            sentence: "A version of %@ is of an unknown kind or author.",
            query: """
                SELECT name FROM history WHERE kind NOT IN (\(list(ChangeKind.allCases)))
                    OR author NOT IN (\(list(Author.allCases)))
                """),
        Invariant(
            sentence: "The deleted record %@ has no deletion in its history.",
            query: """
                SELECT name FROM trash t WHERE NOT EXISTS (SELECT 1 FROM history h
                    WHERE h.zone_id = t.zone_id AND h.name = t.name AND h.kind = 'deleted')
                """),
        Invariant(
            sentence: "An outgoing change of %@ is of an unknown kind.",
            query: "SELECT name FROM outbox WHERE operation NOT IN (1, 2, 3)"),
        Invariant(
            sentence: "The schema has a field of %@ with flags that nobody knows.",
            query: "SELECT type FROM schema_field WHERE flags NOT BETWEEN 0 AND 15"),
    ]

    private static func list(_ words: [some RawRepresentable<String>]) -> String {
        words.map { "'\($0.rawValue)'" }.joined(separator: ", ")
    }

    private static let numbers = [
        Invariant(
            sentence: "The store has lost its counter %@.",
            query: """
                SELECT column1 FROM (VALUES ('nextRecord'), ('opens'), ('searchToken'), ('nextBatch'))
                WHERE column1 NOT IN (SELECT key FROM meta WHERE typeof(value) = 'integer')
                """),
        Invariant(
            sentence: "Record %@ has a number that may be given to another one.",
            query: """
                SELECT stem FROM record
                WHERE id >= (SELECT value FROM meta WHERE key = 'nextRecord')
                """),
    ]
}
