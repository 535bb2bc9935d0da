package import RecordModel
import RecordSQL

/// The values of a record on the server.
package enum BaseContent {
    /// The values of a version of this store's history.
    case version(Int64)
    /// Values that no version has.
    case text([UInt8])
}

extension RecordMerging {
    /// Stores the base of a record.
    ///
    /// - Parameter content: nil for the values that it had before.
    package func putBase(
        _ record: RecordID, _ changeTag: String, _ content: BaseContent?, _ fileText: TextOnServer
    ) throws(RecordError) {
        guard let content else {
            return try transaction.connection.run(
                "UPDATE base SET change_tag = ?, has_file_text = ? WHERE record_id = ?",
                [.text(changeTag), .integer(fileText.rawValue), .integer(record.rawValue)])
        }
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO base (record_id, change_tag, version, text, checksum,
                has_file_text, pass)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, COALESCE((SELECT pass FROM feed_pass
                WHERE zone_id = (SELECT zone_id FROM record WHERE id = ?1)), 0))
            """,
            [.integer(record.rawValue), .text(changeTag)] + content.columns
                + [.integer(fileText.rawValue)])
    }

    /// Returns the state that the server had of a record that is about to be made there again.
    package func ancestor(
        of name: RecordName, in place: TypePlace
    ) throws(RecordError) -> RecordDocument? {
        let state = try transaction.connection.first(
            """
            SELECT COALESCE(o.base_text, h.text), COALESCE(o.base_checksum, h.checksum),
                o.base_version
            FROM outbox o LEFT JOIN history h ON h.token = o.base_version
            WHERE o.zone_id = ? AND o.name = ? AND o.operation = 1
                AND (o.base_version IS NOT NULL OR o.base_text IS NOT NULL)
            ORDER BY o.id DESC LIMIT 1
            """, [.integer(place.zone.id.rawValue), .name(name)]
        ) {
            AcknowledgedState(changeTag: "", text: $0.wholeText(0), version: $0.int64IfPresent(2))
        }
        return try state.flatMap { (state) throws(RecordError) in
            try transaction.outbox.document(of: state, place.name)
        }
    }

    /// Notes that the server still has the record in the state that is known here.
    package func noteTold(_ record: RecordID) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE base SET pass = COALESCE((SELECT pass FROM feed_pass
                WHERE zone_id = (SELECT zone_id FROM record WHERE id = ?1)), 0)
            WHERE record_id = ?1
            """, [.integer(record.rawValue)])
    }

    /// Copies the record's base to its outgoing deletion. The deletion outlives the base, and a
    /// record with the same name may need it.
    func keepBase(of record: RecordID, in row: Int64) throws(RecordError) {
        try transaction.connection.run(
            """
            UPDATE outbox SET (base_tag, base_version, base_text, base_checksum) =
                (SELECT change_tag, version, text, checksum FROM base WHERE record_id = ?1)
            WHERE id = ?2
            """, [.integer(record.rawValue), .integer(row)])
    }

    /// Gives the record the base of an outgoing change. A running pass of the feed may have
    /// reported the record already, so its end must not treat the record as deleted.
    package func inheritBase(of row: Int64, _ record: RecordID) throws(RecordError) {
        try transaction.connection.run(
            """
            INSERT OR REPLACE INTO base (record_id, change_tag, version, text, checksum, pass)
            SELECT ?1, base_tag, base_version, base_text, base_checksum, COALESCE(
                (SELECT pass FROM feed_pass p WHERE p.zone_id = o.zone_id), 0)
            FROM outbox o WHERE id = ?2 AND base_tag IS NOT NULL
            """, [.integer(record.rawValue), .integer(row)])
    }

    /// Passes the base of a deletion that was not sent to the change that came after it. Does
    /// nothing if that has a base already: the server has reported it since.
    func passBase(of row: Int64, to later: OutboxRow) throws(RecordError) {
        if later.operation != .delete {
            guard try transaction.connection.sync.baseTag(of: later.record) == nil else { return }
            return try inheritBase(of: row, later.record)
        }
        try transaction.connection.run(
            """
            UPDATE outbox SET (base_tag, base_version, base_text, base_checksum) =
                (SELECT base_tag, base_version, base_text, base_checksum FROM outbox WHERE id = ?1)
            WHERE id = ?2 AND base_tag IS NULL
            """, [.integer(row), .integer(later.id)])
    }

    /// Passes on the state that the server had before it lost the record, to a change that makes
    /// the record again.
    func passAncestor(of row: Int64, to later: OutboxRow) throws(RecordError) {
        guard later.operation != .delete else { return }
        try transaction.connection.run(
            """
            UPDATE outbox SET (base_version, base_text, base_checksum) =
                (SELECT base_version, base_text, base_checksum FROM outbox WHERE id = ?1)
            WHERE id = ?2 AND base_version IS NULL AND base_text IS NULL
            """, [.integer(row), .integer(later.id)])
    }

    /// Stores the base of an outgoing deletion.
    ///
    /// - Parameter content: nil for the values that it had before.
    package func putBase(
        ofDelete row: Int64, _ changeTag: String, _ content: BaseContent?
    ) throws(RecordError) {
        guard let content else {
            return try transaction.connection.run(
                "UPDATE outbox SET base_tag = ? WHERE id = ?", [.text(changeTag), .integer(row)])
        }
        try transaction.connection.run(
            """
            UPDATE outbox SET base_tag = ?2, base_version = ?3, base_text = ?4, base_checksum = ?5
            WHERE id = ?1
            """, [.integer(row), .text(changeTag)] + content.columns)
    }
}

extension BaseContent {
    /// The values for `version`, `text` and `checksum`.
    fileprivate var columns: [SQLValue] {
        switch self {
        case .version(let token): [.integer(token), .null, .null]
        case .text(let text): [.null, .blob(text), .checksum(text)]
        }
    }
}

extension SyncRows {
    /// Returns whether the server has ever reported a record with this name.
    package func isOfServer(_ name: RecordName, in zone: ZoneID) throws(RecordError) -> Bool {
        try connection.exists(
            "SELECT 1 FROM history WHERE zone_id = ? AND name = ? AND author = ?",
            [.integer(zone.rawValue), .name(name), .text(Author.sync.rawValue)])
    }

    /// Returns the last state that the server has acknowledged.
    package func base(of record: RecordID) throws(RecordError) -> AcknowledgedState? {
        try connection.first(
            """
            SELECT b.change_tag, COALESCE(b.text, h.text), COALESCE(b.checksum, h.checksum),
                b.version, b.has_file_text
            FROM base b LEFT JOIN history h ON h.token = b.version WHERE b.record_id = ?
            """, [.integer(record.rawValue)]
        ) { row in
            var state = row.acknowledgedState()
            state.textOnServer = TextOnServer(rawValue: row.int64(4)) ?? .sent
            return state
        }
    }

    /// Returns the same for the record that an outgoing deletion deletes.
    package func base(ofDelete row: Int64) throws(RecordError) -> AcknowledgedState? {
        try connection.first(
            """
            SELECT o.base_tag, COALESCE(o.base_text, h.text), COALESCE(o.base_checksum, h.checksum),
                o.base_version
            FROM outbox o LEFT JOIN history h ON h.token = o.base_version
            WHERE o.id = ? AND o.base_tag IS NOT NULL
            """, [.integer(row)]
        ) { $0.acknowledgedState() }
    }

    package func baseTag(
        of id: RecordID
    ) throws(RecordError) -> (tag: String, fileText: TextOnServer)? {
        try connection.first(
            "SELECT change_tag, has_file_text FROM base WHERE record_id = ?",
            [.integer(id.rawValue)]
        ) { ($0.string(0), TextOnServer(rawValue: $0.int64(1)) ?? .sent) }
    }

    /// Returns the pass of the zone's feed that reported the record last, or that was running when
    /// the record was sent.
    package func pass(ofBase record: RecordID) throws(RecordError) -> Int64? {
        try connection.first(
            "SELECT pass FROM base WHERE record_id = ?", [.integer(record.rawValue)]
        ) {
            $0.int64(0)
        }
    }

    /// Returns the version that the server has acknowledged. Returns nil when no version has its
    /// values.
    package func baseVersion(of id: RecordID) throws(RecordError) -> Int64? {
        try connection.first(
            "SELECT version FROM base WHERE record_id = ?", [.integer(id.rawValue)]
        ) {
            $0.int64IfPresent(0)
        } ?? nil
    }

    /// Returns the newest version of a name. If a record with the name exists, this is the version
    /// with its values. Another record may have had the name, and may have been deleted, since the
    /// record was last saved under the name that it had then.
    package func newestVersion(_ name: RecordName, _ zone: ZoneID) throws(RecordError) -> Int64? {
        try connection.first(
            """
            SELECT token FROM history WHERE zone_id = ?1 AND name = ?2
            ORDER BY record_id = (SELECT id FROM record WHERE zone_id = ?1 AND name = ?2) DESC,
                token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name)]
        ) { $0.int64(0) }
    }
}

extension SQLStatement {
    fileprivate func acknowledgedState() -> AcknowledgedState {
        AcknowledgedState(
            changeTag: string(0), text: wholeText(1), version: int64IfPresent(3))
    }
}
