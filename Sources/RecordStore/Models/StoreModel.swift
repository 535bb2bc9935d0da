package import RecordModel
import RecordObjects
import RecordSQL
import Synchronization

extension StoreModel {
    /// The model that is attached. Nil without one.
    package var attached: AttachedModel? { store.attachedModel.withLock { $0 } }

    /// Returns the type that the records of a type have on the server.
    package func serverType(of type: RecordTypeName) -> RecordTypeName {
        attached?.mapping.serverType(of: type) ?? type
    }

    /// Returns the type here of a record that the server has.
    ///
    /// - Parameter mark: the values of the record that tell its entity and its version.
    /// - Returns: nil for a record of a type that has the name of an entity, and so cannot be shown.
    package func type(
        of serverType: RecordTypeName, by mark: ObjectMark
    ) -> RecordTypeName? {
        guard let mapping = attached?.mapping else { return serverType }
        guard mapping.members(of: serverType) == nil else { return nil }
        return mapping.type(of: serverType, entity: mark.entity, version: mark.version)
    }

    /// Returns the members of the objects that the model makes of the server's records. Nil for
    /// records that are no objects of an entity.
    ///
    /// - Parameter mark: the values of the record that tell its entity and its version.
    package func members(
        of serverType: RecordTypeName, by mark: ObjectMark
    ) -> MemberMapping? {
        type(of: serverType, by: mark).flatMap { attached?.members(of: $0) }
    }

    /// The field of the server's records that names their entity.
    package static var entityField: FieldName { ObjectMapping.entityField }

    /// The field of the server's records that tells the version of the app.
    package static var versionField: FieldName { ObjectMapping.versionField }

    /// Settles the relationships of a zone after a download: links the objects that relationships
    /// have been waiting for, and ends the links that the download has left loose. In the user's own
    /// zones, duplicates are merged.
    package func settleLinks(in zone: ZoneID) throws(RecordError) {
        guard attached != nil else { return }
        try writeDueLists(in: zone)
        let (arrived, hasDoubts) = try store.read { connection throws(RecordError) in
            (
                try connection.all(
                    """
                    SELECT DISTINCT l.member
                    FROM object_link l JOIN record r ON r.zone_id = l.zone_id AND r.name = l.member
                    WHERE l.holder = 0 AND l.zone_id = ? AND r.state = 0
                    """, [.integer(zone.rawValue)]
                ) { RecordName(bytes: $0.bytes(0)) },
                try connection.exists(
                    "SELECT 1 FROM object_doubt WHERE zone_id = ?", [.integer(zone.rawValue)])
            )
        }
        if hasDoubts || !arrived.isEmpty {
            try store.write(author: .mount) { transaction throws(RecordError) in
                try transaction.asConsequence { () throws(RecordError) in
                    for name in arrived {
                        try transaction.links.endWaiting(for: name, in: zone)
                    }
                    try transaction.links.settle(zone)
                }
            }
        }
        try changeDuplicates(
            "SELECT 1 FROM object_identity WHERE is_new = 1 AND zone_id = z.id", in: zone
        ) { (duplicates, zone) throws(RecordError) in
            try duplicates.merge(in: zone)
        }
    }

    /// Writes the lists that the pages of a download have left into the texts of their objects. It
    /// works in steps, between which the mount can save.
    private func writeDueLists(in zone: ZoneID) throws(RecordError) {
        let hasDue = try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM object_list_due WHERE zone_id = ?", [.integer(zone.rawValue)])
        }
        var isMore = hasDue
        while isMore {
            isMore = try store.write(author: .sync) { transaction throws(RecordError) in
                try transaction.links.takeDue(in: zone, limit: Self.listsInStep)
            }
        }
    }

    private static let listsInStep: Int64 = 500

    /// Merges and removes duplicates when the server has nothing new.
    package func settleDuplicates() throws(RecordError) {
        try changeDuplicates(
            """
            SELECT 1 FROM object_identity WHERE is_new = 1 AND zone_id = z.id
            UNION ALL SELECT 1 FROM object_duplicate WHERE zone_id = z.id
            """
        ) { (duplicates, zone) throws(RecordError) in
            try duplicates.remove(in: zone)
            try duplicates.merge(in: zone)
        }
    }

    /// Changes the duplicates in the user's own zones that a statement chooses.
    private func changeDuplicates(
        _ choice: String, in zone: ZoneID? = nil,
        _ body: (Duplicates, ZoneID) throws(RecordError) -> Void
    ) throws(RecordError) {
        guard attached?.identities.isEmpty == false else { return }
        let zones = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT z.id FROM zone z
                WHERE z.database = ?1 AND (?2 IS NULL OR z.id = ?2) AND EXISTS (\(choice))
                """,
                [
                    .integer(Database.private.rawValue),
                    zone.map { .integer($0.rawValue) } ?? .null,
                ]
            ) { ZoneID($0.int64(0)) }
        }
        for zone in zones {
            try store.write(author: .mount, by: try AuthorName(Self.duplicatesAuthor)) {
                transaction throws(RecordError) in
                try transaction.asConsequence { () throws(RecordError) in
                    try body(transaction.duplicates, zone)
                }
            }
        }
    }

    /// The author of merges and removals of duplicates, in the history.
    private static let duplicatesAuthor = "deduplication"

    /// Reads the attached model, when the store is opened.
    func load() throws(RecordError) {
        let model = try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT text, checksum, configuration, attached, largest_version FROM object_model"
            ) { row throws(RecordError) in
                try AttachedModel(
                    try JSONModelReader.read(try row.text(0, of: { "the attached model" })),
                    configuration: row.isNull(2) ? nil : row.string(2),
                    largestVersion: row.isNull(4) ? nil : row.int64(4), attached: row.time(3))
            }
        }
        store.attachedModel.withLock { $0 = model }
    }
}

/// The values of a record by which a model gives it its place.
package struct ObjectMark: Sendable {
    package let entity: FieldValue?
    package let version: FieldValue?

    package init(entity: FieldValue?, version: FieldValue? = nil) {
        self.entity = entity
        self.version = version
    }
}
