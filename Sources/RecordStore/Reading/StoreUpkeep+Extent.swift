package import RecordModel
import RecordSQL

/// The amount of data in a zone or a part of it.
package struct StoredExtent: Hashable, Sendable {
    package var records: Int64 = 0
    /// The bytes of texts, and of large fields that are on this machine.
    package var bytes: Int64 = 0
    /// Records with an edit that was not sent yet; deletions are not counted.
    package var unsent: Int64 = 0
    /// Texts that could not be saved.
    package var drafts: Int64 = 0

    /// Makes an extent without any data.
    package init() {}
}

extension StoreUpkeep {
    /// Returns the extent of a zone, or of a record in it with its descendants. Linear in the
    /// number of records of the zone.
    package func extent(
        of root: RecordName?, in zone: ZoneID
    ) throws(RecordError) -> StoredExtent {
        try store.readSnapshot { connection throws(RecordError) in
            var tree: Set<RecordName>?
            if let root, let info = try connection.records.zone(zone) {
                tree = Set(try ZoneLinks(connection, info).tree(of: root))
            }
            let isMeant = { (name: RecordName?) -> Bool in
                guard let tree else { return root == nil }
                return name.map(tree.contains) ?? false
            }
            var extent = StoredExtent()
            for record in try connection.records.extents(in: zone) where isMeant(record.name) {
                extent.records += record.isSaved ? 1 : 0
                extent.bytes += record.bytes
                extent.unsent += record.isUnsent ? 1 : 0
                extent.drafts += record.hasDraft ? 1 : 0
            }
            return extent
        }
    }
}

private struct RecordExtent {
    let name: RecordName?
    let isSaved: Bool
    let bytes: Int64
    let isUnsent: Bool
    let hasDraft: Bool
}

extension RecordRows {
    /// Returns the extents of the records that are shown. A draft without a record has no name.
    fileprivate func extents(in zone: ZoneID) throws(RecordError) -> [RecordExtent] {
        try connection.all(
            """
            SELECT r.name, r.state = 0,
                CASE r.state WHEN 0 THEN r.size ELSE 0 END + COALESCE(
                    (SELECT SUM(a.size) FROM asset a WHERE a.record_id = r.id AND a.kind = 0
                        AND a.downloaded = 1 AND a.hash IS NOT NULL), 0),
                EXISTS (SELECT 1 FROM outbox o WHERE o.zone_id = r.zone_id AND o.name = r.name
                    AND o.operation != ?2),
                EXISTS (SELECT 1 FROM draft d WHERE d.record_id = r.id)
            FROM record r WHERE r.zone_id = ?1 AND r.state != 2
            """,
            [.integer(zone.rawValue), .integer(OutboxRow.Operation.delete.rawValue)]
        ) { row in
            RecordExtent(
                name: row.isNull(0) ? nil : RecordName(bytes: row.bytes(0)),
                isSaved: row.int64(1) != 0, bytes: row.int64(2), isUnsent: row.int64(3) != 0,
                hasDraft: row.int64(4) != 0)
        }
    }
}
