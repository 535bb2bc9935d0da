package import RecordModel
import RecordSQL

/// The kinds of data that outlive their record, and its type and zone. Type and zone keep their
/// names for this data.
package enum Kept: Sendable {
    case history
    case trash
    /// Conflicts that nobody has settled.
    case conflicts
}

extension RecordHistory {
    /// Reads such data. The trash is read after the records of removed types have got there: a user
    /// who has just removed a directory looks for its records here. In a store that is only read
    /// they come a moment later.
    private func read<T>(
        _ kept: Kept, _ body: (SQLConnection) throws(RecordError) -> T
    ) throws(RecordError) -> T {
        if kept == .trash { try store.upkeep.finishRemovedTypes() }
        return try store.read(body)
    }

    /// Returns the zones of a database with such data, in the order of their names, including
    /// removed zones. For history it returns all existing zones too.
    package func zones(
        in database: Database, with kept: Kept
    ) throws(RecordError) -> [ZoneInfo] {
        let condition =
            switch kept {
            case .history:
                "(removed = 0 OR EXISTS (SELECT 1 FROM history h WHERE h.zone_id = zone.id))"
            case .trash: "EXISTS (SELECT 1 FROM trash t WHERE t.zone_id = zone.id)"
            case .conflicts:
                """
                EXISTS (SELECT 1 FROM conflict c WHERE c.zone_id = zone.id AND settled IS NULL)
                """
            }
        return try read(kept) { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.zone) FROM zone WHERE database = ? AND \(condition)
                ORDER BY owner, name
                """, [.integer(database.rawValue)]
            ) { $0.zone() }
        }
    }

    /// Returns a zone by its name, even a removed one, whose trash and history are kept.
    package func keptZone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.zone) FROM zone WHERE database = ? AND owner = ? AND name = ?",
                [.integer(database.rawValue), .name(owner), .name(name)]
            ) { $0.zone() }
        }
    }

    /// Returns a zone by its number, even a removed one.
    package func keptZone(_ id: ZoneID) throws(RecordError) -> ZoneInfo? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.zone) FROM zone WHERE id = ?", [.integer(id.rawValue)]
            ) { $0.zone() }
        }
    }

    /// Returns the types of a zone with such data, in the order of their names, including removed
    /// types. For history it returns all existing types too.
    package func types(
        in zone: ZoneID, with kept: Kept
    ) throws(RecordError) -> [RecordTypeName] {
        let names =
            switch kept {
            case .history:
                """
                SELECT name FROM record_type WHERE zone_id = ?1
                    UNION SELECT name FROM past_type WHERE zone_id = ?1 ORDER BY 1
                """
            case .trash: "SELECT DISTINCT type FROM trash WHERE zone_id = ?1 ORDER BY 1"
            case .conflicts:
                """
                SELECT DISTINCT type FROM conflict WHERE zone_id = ?1 AND settled IS NULL ORDER BY 1
                """
            }
        return try read(kept) { connection throws(RecordError) in
            try connection.all(names, [.integer(zone.rawValue)]) {
                RecordTypeName(bytes: $0.bytes(0))
            }
        }
    }

    /// Returns whether a zone has, or once had, a type with that name.
    package func hasKeptType(
        _ zone: ZoneID, _ name: RecordTypeName
    ) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                """
                SELECT 1 FROM record_type WHERE zone_id = ?1 AND name = ?2
                UNION ALL SELECT 1 FROM past_type WHERE zone_id = ?1 AND name = ?2
                """, [.integer(zone.rawValue), .name(name)])
        }
    }

    // MARK: Trash

    /// Returns the records that were deleted from a zone, newest first; of one type, or of all.
    package func trash(
        in zone: ZoneID, type: RecordTypeName? = nil
    ) throws(RecordError) -> [TrashEntry] {
        let ofType = type == nil ? "" : "AND type = ?"
        return try read(.trash) { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(Columns.trash) FROM trash WHERE zone_id = ? \(ofType) ORDER BY id DESC
                """, [.integer(zone.rawValue)] + (type.map { [.name($0)] } ?? [])
            ) { $0.trash() }
        }
    }

    package func trash(in type: TypeID) throws(RecordError) -> [TrashEntry] {
        guard let info = try self.store.type(type) else { return [] }
        return try trash(in: info.zone, type: info.name)
    }

    /// Returns the last record that was deleted under a name.
    package func lastTrashed(
        in zone: ZoneID, type: RecordTypeName, _ stem: Stem
    ) throws(RecordError) -> TrashEntry? {
        try read(.trash) { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.trash) FROM trash WHERE zone_id = ? AND type = ? AND stem = ?
                ORDER BY id DESC LIMIT 1
                """, [.integer(zone.rawValue), .name(type), .name(stem)]
            ) { $0.trash() }
        }
    }

    /// Returns whether anything from a zone, or from one type in it, is in the trash.
    package func hasTrash(
        in zone: ZoneID, type: RecordTypeName? = nil
    ) throws(RecordError) -> Bool {
        let ofType = type == nil ? "" : "AND type = ?"
        return try read(.trash) { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM trash WHERE zone_id = ? \(ofType)",
                [.integer(zone.rawValue)] + (type.map { [.name($0)] } ?? []))
        }
    }

    package func trashEntry(_ id: Int64) throws(RecordError) -> TrashEntry? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.trash) FROM trash WHERE id = ?", [.integer(id)]
            ) { $0.trash() }
        }
    }

    package func trashed(
        _ id: Int64
    ) throws(RecordError) -> (entry: TrashEntry, text: [UInt8])? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(Columns.trash), text, checksum FROM trash WHERE id = ?", [.integer(id)]
            ) { row throws(RecordError) in (row.trash(), try row.trashText(8)) }
        }
    }
}
