import RecordModel
import RecordSQL

extension Migrations {
    /// The time at which this machine last saw a change of a file's content, name, mode or times
    /// (`st_ctime`). It is 0 in rows that have not changed since this column was added; there
    /// `modified` is that time. `mode_changed` is the time for all files of a zone. The
    /// `incarnation` makes a removed zone that comes back another directory.
    static let changeTimes = """
        ALTER TABLE record ADD COLUMN status_changed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE asset ADD COLUMN status_changed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE record_type ADD COLUMN status_changed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone ADD COLUMN status_changed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone ADD COLUMN mode_changed INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE zone ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;
        """
}

/// The triggers that keep the times of changes, so that no statement can forget them. They belong
/// to the writer's connection (TEMP), because they need its function `change_moment`. A time only
/// grows, even when the clock has been set back. The statements of each save and each removal set
/// the time themselves (`Columns.changed`), because a trigger writes the row a second time.
enum ChangeTriggers {
    static func install(
        on connection: SQLConnection, _ moment: ChangeMoment
    ) throws(RecordError) {
        try connection.add(function: "change_moment") { moment.nanoseconds }
        for (table, columns) in changing { try connection.execute(updated(table, columns)) }
        for table in ["record_type", "zone", "asset"] {
            try connection.execute(inserted(table))
        }
        try connection.execute(insertedRecord)
        try connection.execute(removedRecord)
        try connection.execute(permissionChanged)
    }

    /// The columns whose change makes a file different for `stat`.
    private static let changing = [
        ("record", ["type_id", "stem", "state", "flags", "size", "modified"]),
        (
            "asset",
            ["record_id", "type_id", "field", "idx", "kind", "hash", "size", "ext", "modified"]
        ),
        ("record_type", ["name", "modified"]),
        ("zone", ["name", "modified", "permission", "removed"]),
    ]

    /// Returns the condition of an update trigger. A save writes the rows of all large fields of
    /// its record, but changes few of them.
    private static func condition(_ table: String, _ columns: [String]) -> String {
        let isNew = """
            old.status_changed IS NOT change_moment() AND new.status_changed IS old.status_changed
            """
        guard table == "asset" else { return isNew }
        let differs = columns.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
        return "\(isNew) AND (\(differs))"
    }

    private static func updated(_ table: String, _ columns: [String]) -> String {
        """
        CREATE TEMP TRIGGER \(table)_changed AFTER UPDATE OF \(columns.joined(separator: ", "))
        ON main.\(table) WHEN \(condition(table, columns)) BEGIN
            UPDATE \(table) SET status_changed = max(change_moment(), old.status_changed + 1)
                WHERE id = new.id;
        END
        """
    }

    private static func inserted(_ table: String) -> String {
        """
        CREATE TEMP TRIGGER \(table)_made AFTER INSERT ON main.\(table) BEGIN
            UPDATE \(table) SET status_changed = max(change_moment(), status_changed)
                WHERE id = new.id;
        END
        """
    }

    /// Gives a new record a later time than the deleted record that had its name. If the clock was
    /// set back, `meta` has the latest time of a deleted record whose time was in the future.
    private static let insertedRecord = """
        CREATE TEMP TRIGGER record_made AFTER INSERT ON main.record WHEN new.status_changed = 0 BEGIN
            UPDATE record SET status_changed = \(ofNewRecord("change_moment()")) WHERE id = new.id;
        END
        """

    /// An SQL expression for the time of a new record.
    static func ofNewRecord(_ moment: String) -> String {
        """
        max(\(moment), coalesce((SELECT value + 1 FROM meta WHERE key = 'lastChange'), 0))
        """
    }

    private static let removedRecord = """
        CREATE TEMP TRIGGER record_gone AFTER DELETE ON main.record
        WHEN old.status_changed >= change_moment() BEGIN
            INSERT INTO meta (key, value) VALUES ('lastChange', old.status_changed)
                ON CONFLICT (key) DO UPDATE SET value = max(value, excluded.value);
        END
        """

    private static let permissionChanged = """
        CREATE TEMP TRIGGER permission_changed AFTER UPDATE OF permission ON main.zone
        WHEN old.permission IS NOT new.permission BEGIN
            UPDATE zone SET mode_changed = max(change_moment(), mode_changed + 1)
                WHERE id = new.id;
        END
        """
}
