package import RecordModel
import RecordSQL

/// What this machine's user may do with each record of a zone of which others share several records
/// with what hangs on them, some of them for reading only.
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

    /// Of the share on whose record it hangs, the nearest. What hangs on none of them is new here, or is
    /// about to be: the server decides of it. Of a ring each record is looked at once.
    func permission(of name: RecordName) throws(RecordError) -> ZoneInfo.Permission {
        var seen: Set<RecordName> = []
        var next: RecordName? = name
        while let name = next, seen.insert(name).inserted {
            if let permission = roots[name] { return permission }
            next = try parent(of: name)
        }
        return .readWrite
    }

    /// As of a record with this name and text. What is shared itself need not hang on what may be
    /// written to.
    func permission(
        of name: RecordName?, saying text: [UInt8]
    ) throws(RecordError) -> ZoneInfo.Permission {
        if let name, let permission = roots[name] { return permission }
        return try Self.parent(in: text).map(permission(of:)) ?? .readWrite
    }

    /// As the server has it, whom this user asks to let the record hang elsewhere; of what is new here, as
    /// its text says.
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

    /// Nil also for a text that is no record, of which a save says more.
    private static func parent(in text: [UInt8]) -> RecordName? {
        guard case .string(let parent)? = try? JSONParser.parse(text)["$parent"] else { return nil }
        return RecordName(bytes: parent.utf8)
    }
}

extension SQLConnection {
    /// What this machine's user may do with a record. Asks nothing where that is the same in the whole
    /// zone.
    func permission(
        of record: RecordID, in zone: ZoneInfo
    ) throws(RecordError) -> ZoneInfo.Permission {
        guard zone.permission == .mixed else { return zone.permission }
        let name = try first("SELECT name FROM record WHERE id = ?", [.integer(record.rawValue)]) {
            $0.bytesIfPresent(0)
        }
        guard let name = name ?? nil else { return .readWrite }
        return try RecordPermissions(self, zone.id).permission(of: RecordName(bytes: name))
    }
}

extension RecordStore {
    /// What this machine's user may do with a record: never `mixed`. Asks nothing where that is the same
    /// in the whole zone. One that was never saved may be written.
    package func permission(
        of record: RecordID, in zone: ZoneInfo
    ) throws(RecordError) -> ZoneInfo.Permission {
        guard zone.permission == .mixed else { return zone.permission }
        return try readSnapshot { connection throws(RecordError) in
            try connection.permission(of: record, in: zone)
        }
    }

    /// True when this machine's user may only read a record of the zone, or of one type of it. In a zone
    /// that is for reading only that is so also while it is empty.
    package func hasReadOnlyRecord(
        in zone: ZoneInfo, type: TypeID?
    ) throws(RecordError) -> Bool {
        guard zone.permission == .mixed else { return zone.permission == .readOnly }
        return try readSnapshot { connection throws(RecordError) in
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
    /// The place of a record that is there, for a change by this machine's user. Errors: notFound,
    /// accessDenied.
    func writablePlace(of record: StoredRecord) throws(RecordError) -> TypePlace {
        let place = try writablePlace(record.entry.type)
        try checkWritable(record, in: place)
        return place
    }

    /// Throws for a record that this machine's user may only read. Errors: notFound, accessDenied.
    package func checkWritable(_ id: RecordID) throws(RecordError) {
        _ = try writablePlace(of: try requireRecord(id))
    }

    /// Throws for a record that this machine's user may only read, while he may write others of its zone.
    func checkWritable(_ record: StoredRecord?, in place: TypePlace) throws(RecordError) {
        guard let record, place.zone.permission == .mixed, author != .sync else { return }
        guard try connection.permission(of: record.id, in: place.zone) == .readOnly else { return }
        throw .readOnlyRecord(record.entry.stem)
    }

    /// The same also for a text that would let a record hang on such a one.
    ///
    /// - Parameter record: nil for a new one.
    func checkWritable(
        _ record: StoredRecord?, saying text: [UInt8], as stem: Stem, in place: TypePlace
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
            .accessDenied, "You may read \(stem) and what hangs together with it, not change it.")
    }
}
