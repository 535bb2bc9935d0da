package import RecordModel
import RecordSQL

/// The permissions of this machine's user for the records of a zone of which others share several
/// records with their children, some of them for reading only.
struct RecordPermissions {
    private let connection: SQLConnection
    private let zone: ZoneID
    private let roots: [RecordName: ZoneInfo.Permission]

    init(_ connection: SQLConnection, _ zone: ZoneID) throws(RecordError) {
        self.connection = connection
        self.zone = zone
        let rows = try connection.all(
            "SELECT root, permission FROM share WHERE zone_id = ? AND root IS NOT NULL",
            [.integer(zone.rawValue)]
        ) { row in
            (
                RecordName(bytes: row.bytes(0)),
                ZoneInfo.Permission(rawValue: row.int64(1)) ?? .readOnly
            )
        }
        roots = Dictionary(rows, uniquingKeysWith: { $1 })
    }

    /// Returns the permission of the share whose root is this record or its nearest shared
    /// ancestor. A record without such a root is new here, or is about to be: the server decides
    /// about it. In a ring each record is examined once.
    func permission(of name: RecordName) throws(RecordError) -> ZoneInfo.Permission {
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let name = next, seen.insert(name).inserted {
            if let permission = roots[name] { return permission }
            next = try parent(of: name)
        }
        return .readWrite
    }

    /// Returns the permission for a record with this name and text. A shared root itself need not
    /// have a writable parent.
    func permission(
        of name: RecordName?, saying text: [UInt8]
    ) throws(RecordError) -> ZoneInfo.Permission {
        if let name, let permission = roots[name] { return permission }
        return try Self.parent(in: text).map(permission(of:)) ?? .readWrite
    }

    /// Returns the parent as the server has it, because this user asks the server to change the
    /// parent. For a record that is new here, returns the parent in its text.
    private func parent(of name: RecordName) throws(RecordError) -> RecordName? {
        let row = try connection.first(
            """
            SELECT t.text, t.checksum, COALESCE(b.text, h.text), COALESCE(b.checksum, h.checksum)
            FROM record r JOIN saved_text t ON t.record_id = r.id
                LEFT JOIN base b ON b.record_id = r.id
                LEFT JOIN history h ON h.token = b.version
            WHERE r.zone_id = ? AND r.name = ?
            """, [.integer(zone.rawValue), .name(name)]
        ) { (own: $0.wholeText(0), server: $0.wholeText(2)) }
        guard let row else { return nil }
        return row.server.flatMap(Self.parent(in:)) ?? row.own.flatMap(Self.parent(in:))
    }

    /// Returns the parent in a text. Returns nil also for a text that is no record; a save gives
    /// the details.
    private static func parent(in text: [UInt8]) -> RecordName? {
        guard case .string(let parent)? = try? JSONParser.parse(text)["$parent"] else { return nil }
        return RecordName(bytes: parent.utf8)
    }
}

extension RecordRows {
    /// Returns the permission of this machine's user for a record. Reads nothing where the
    /// permission is the same in the whole zone.
    func permission(
        of record: RecordID, in zone: ZoneInfo
    ) throws(RecordError) -> ZoneInfo.Permission {
        guard zone.permission == .mixed else { return zone.permission }
        let name = try connection.first(
            "SELECT name FROM record WHERE id = ?", [.integer(record.rawValue)]
        ) {
            $0.bytesIfPresent(0)
        }
        guard let name = name ?? nil else { return .readWrite }
        return try RecordPermissions(connection, zone.id).permission(of: RecordName(bytes: name))
    }
}

extension SharedZones {
    /// Returns the permission of this machine's user for a record: never `mixed`. Reads nothing
    /// where it is the same in the whole zone. A record that was never saved may be written.
    package func permission(
        of record: RecordID, in zone: ZoneInfo
    ) throws(RecordError) -> ZoneInfo.Permission {
        guard zone.permission == .mixed else { return zone.permission }
        return try store.readSnapshot { connection throws(RecordError) in
            try connection.records.permission(of: record, in: zone)
        }
    }

    /// Returns whether this machine's user may only read a record of the zone, or of one type in
    /// it. In a read-only zone this is true even while it is empty.
    package func hasReadOnlyRecord(
        in zone: ZoneInfo, type: TypeID?
    ) throws(RecordError) -> Bool {
        guard zone.permission == .mixed else { return zone.permission == .readOnly }
        return try store.readSnapshot { connection throws(RecordError) in
            let permissions = try RecordPermissions(connection, zone.id)
            let names = try connection.all(
                "SELECT name FROM record WHERE zone_id = ?1 AND type_id = COALESCE(?2, type_id)",
                [.integer(zone.id.rawValue), type.map { .integer($0.rawValue) } ?? .null]
            ) { $0.bytesIfPresent(0) }
            for case let name? in names
            where try permissions.permission(of: RecordName(bytes: name)) == .readOnly {
                return true
            }
            return false
        }
    }
}

extension Transaction {
    /// Returns the place of an existing record, for a change by this machine's user. Errors:
    /// notFound, accessDenied.
    func writablePlace(of record: StoredRow) throws(RecordError) -> TypePlace {
        let place = try writablePlace(record.entry.type)
        try checkWritable(record, in: place)
        return place
    }

    /// Throws an error for a record that this machine's user may only read. Errors: notFound,
    /// accessDenied.
    package func checkWritable(_ id: RecordID) throws(RecordError) {
        _ = try writablePlace(of: try records.requireRecord(id))
    }

    /// Throws an error for a record that this machine's user may only read, although they may write
    /// others in its zone.
    func checkWritable(_ record: StoredRow?, in place: TypePlace) throws(RecordError) {
        guard let record, place.zone.permission == .mixed, author != .sync else { return }
        guard try connection.records.permission(of: record.id, in: place.zone) == .readOnly else {
            return
        }
        throw .readOnlyRecord(record.entry.stem)
    }

    /// Does the same, also for a text that would make a record the child of such a record.
    ///
    /// - Parameter record: nil for a new record.
    func checkWritable(
        _ record: StoredRow?, saying text: [UInt8], as stem: Stem, in place: TypePlace
    ) throws(RecordError) {
        guard place.zone.permission == .mixed, author != .sync else { return }
        try checkWritable(record, in: place)
        let permission = try RecordPermissions(connection, place.zone.id)
            .permission(of: record?.name, saying: text)
        if permission == .readOnly { throw .readOnlyRecord(stem) }
    }
}

extension RecordError {
    static func readOnlyRecord(_ stem: Stem) -> RecordError {
        RecordError(
            .accessDenied,
            "You may read \(stem), its parents and its children, but not change them.")
    }
}
