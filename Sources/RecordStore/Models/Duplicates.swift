package import RecordModel
import RecordObjects
import RecordSQL

/// The order of the work: objects that have arrived are compared with the others of their zone; of
/// equal ones the lowest stays, and gets the relationships of the others; when the server has that,
/// and another download has brought no new relationship, the others are removed. So each machine may
/// do it at any time, and all come to the same result (Apple, "Sharing Core Data objects between
/// iCloud users").
extension Duplicates {
    private var connection: SQLConnection { transaction.connection }

    /// An object of a group of equal ones.
    private struct Twin: Comparable {
        let record: StoredRow
        let name: RecordName
        /// The value that decides which one stays; the lowest.
        let order: [UInt8]
        /// Indicates whether it tells already that it is a duplicate.
        let isMarked: Bool

        static func == (left: Self, right: Self) -> Bool { left.record.id == right.record.id }
        static func < (left: Self, right: Self) -> Bool {
            left.order == right.order
                ? left.name < right.name : left.order.lexicographicallyPrecedes(right.order)
        }
    }

    // MARK: What identifies an object

    /// Notes what identifies an object that is about to be stored.
    func noteSaved(
        _ record: RecordID, _ document: RecordDocument, in place: TypePlace
    ) throws(RecordError) {
        guard let identity = transaction.model?.identities[place.name] else { return }
        guard let hash = identity.hash(of: document) else { return try forget(record) }
        try connection.run(
            """
            INSERT INTO object_identity (holder, zone_id, type, identity, is_new)
            VALUES (?1, ?2, ?3, ?4, 1)
            ON CONFLICT (holder) DO UPDATE SET
                is_new = is_new OR identity != ?4, zone_id = ?2, type = ?3, identity = ?4
            """,
            [
                .integer(record.rawValue), .integer(place.zone.id.rawValue), .name(place.name),
                .text(hash.hex),
            ])
    }

    /// Notes the removal of an object. Keys to a duplicate that another machine has removed lead to
    /// the object that stays.
    func noteRemoved(_ record: StoredRow) throws(RecordError) {
        guard transaction.model?.identities.isEmpty == false else { return }
        if transaction.author == .sync, let name = record.name,
            let first = try twins(of: record.id).first, first.record.id != record.id
        {
            try transaction.links.noteMoved(
                from: name, record.zone, to: first.name, record.zone)
        }
        try forget(record.id)
    }

    private func forget(_ record: RecordID) throws(RecordError) {
        try connection.run(
            "DELETE FROM object_identity WHERE holder = ?", [.integer(record.rawValue)])
    }

    // MARK: Merging

    /// Merges the objects of a zone that have arrived into those that they are equal to.
    func merge(in zone: ZoneID) throws(RecordError) {
        let arrived = try connection.all(
            "SELECT holder FROM object_identity WHERE zone_id = ? AND is_new = 1",
            [.integer(zone.rawValue)]
        ) { RecordID($0.int64(0)) }
        for record in arrived where try merge(try twins(of: record)) {
            try connection.run(
                "UPDATE object_identity SET is_new = 0 WHERE holder = ?",
                [.integer(record.rawValue)])
        }
    }

    /// Returns the groups of objects in the user's own zones that are equal by a model.
    package func groups(by model: AttachedModel) throws(RecordError) -> [DuplicateGroup] {
        var groups: [Group: [Twin]] = [:]
        for (type, identity) in model.identities {
            let records = try connection.all(
                """
                SELECT r.id FROM record r JOIN record_type t ON t.id = r.type_id
                    JOIN zone z ON z.id = r.zone_id
                WHERE t.name = ? AND z.database = ? AND r.state = 0
                """, [.name(type), .integer(Database.private.rawValue)]
            ) { RecordID($0.int64(0)) }
            for record in records {
                guard let (twin, document) = try twin(record, by: model),
                    let hash = identity.hash(of: document)
                else { continue }
                let zone = try transaction.place(twin.record.entry.type).zone.name
                groups[Group(zone: zone, type: type, hash: hash), default: []].append(twin)
            }
        }
        return groups.compactMap { group, twins in
            guard twins.count > 1 else { return nil }
            return DuplicateGroup(
                zone: group.zone, type: group.type,
                objects: twins.sorted().map(\.record.entry.stem))
        }.sorted { ($0.zone, $0.type, $0.objects[0]) < ($1.zone, $1.type, $1.objects[0]) }
    }

    private struct Group: Hashable {
        let zone: ZoneName
        let type: RecordTypeName
        let hash: ContentHash
    }

    /// Returns the objects that are equal to one, with it, the one that stays first.
    private func twins(of record: RecordID) throws(RecordError) -> [Twin] {
        let records = try connection.all(
            """
            SELECT t.holder FROM object_identity o JOIN object_identity t
                ON t.zone_id = o.zone_id AND t.type = o.type AND t.identity = o.identity
            WHERE o.holder = ?
            """, [.integer(record.rawValue)]
        ) { RecordID($0.int64(0)) }
        guard let model = transaction.model else { return [] }
        var twins: [Twin] = []
        for record in records {
            if let (twin, _) = try twin(record, by: model) { twins.append(twin) }
        }
        return twins.sorted()
    }

    /// Returns a record as an object that may be equal to others, with its values. Nil for one that
    /// is of another kind, or not readable.
    private func twin(
        _ record: RecordID, by model: AttachedModel
    ) throws(RecordError) -> (twin: Twin, document: RecordDocument)? {
        guard let row = try connection.records.stored(record), row.state == .saved,
            let name = row.name
        else { return nil }
        let place = try transaction.place(row.entry.type)
        guard let identity = model.identities[place.name],
            let text = try connection.records.savedText(of: record),
            let document = transaction.records.readable(text, place)
        else { return nil }
        let twin = Twin(
            record: row, name: name, order: identity.order(of: document),
            isMarked: identity.mark.map { document[$0] != nil } ?? false)
        return (twin, document)
    }

    /// - Returns: whether all are merged. Those with a text that is not saved are left for later.
    private func merge(_ twins: [Twin]) throws(RecordError) -> Bool {
        guard let first = twins.first else { return true }
        do throws(RecordError) {
            for other in twins.dropFirst() {
                _ = try giveRelationships(of: other, to: first)
                try mark(other)
            }
            return true
        } catch {
            guard error.code == .schemaMismatch else { throw error }
            return false
        }
    }

    /// Gives the relationships of an object to the one that stays.
    ///
    /// - Returns: whether it had any.
    private func giveRelationships(
        of other: Twin, to first: Twin
    ) throws(RecordError) -> Bool {
        let place = try transaction.place(other.record.entry.type)
        var hadAny = false
        for relation in transaction.model?.mapping.relations(of: place.name) ?? [] {
            let old = ObjectList(
                zone: other.record.zone, owner: other.name, relationship: relation.name)
            let new = ObjectList(
                zone: first.record.zone, owner: first.name, relationship: relation.name)
            if let field = relation.listField {
                for member in try transaction.links.names(in: old, by: field) {
                    hadAny = true
                    try transaction.links.move(member, from: old, to: new, of: relation)
                }
            } else if case .key(let field) = relation.form {
                hadAny = try giveKey(field, of: other, to: first, relation, old, new) || hadAny
            }
        }
        return hadAny
    }

    private func giveKey(
        _ field: FieldName, of other: Twin, to first: Twin, _ relation: Relation,
        _ old: ObjectList, _ new: ObjectList
    ) throws(RecordError) -> Bool {
        let links = transaction.links
        guard let target = try key(field, of: other.record) else { return false }
        try links.setKey(field, of: try current(other), to: nil, as: relation)
        if relation.hasOneInverse { try links.follow(relation, old, by: field, target: nil) }
        if try key(field, of: first.record) == nil {
            try links.setKey(field, of: try current(first), to: target, as: relation)
            if relation.hasOneInverse { try links.follow(relation, new, by: field, target: target) }
        }
        return true
    }

    private func key(
        _ field: FieldName, of record: StoredRow
    ) throws(RecordError) -> RecordName? {
        try transaction.links.rows(of: record.id).first { $0.field == field }?.owner
    }

    /// Returns the row of an object as this transaction has left it.
    private func current(_ twin: Twin) throws(RecordError) -> StoredRow {
        try transaction.records.requireRecord(twin.record.id)
    }

    /// Marks an object as a duplicate, which is to be removed later.
    private func mark(_ twin: Twin) throws(RecordError) {
        let type = try transaction.place(twin.record.entry.type).name
        if let field = transaction.model?.identities[type]?.mark, !twin.isMarked {
            try transaction.links.set(
                field, of: try current(twin),
                to: .timestamp(milliseconds: transaction.now.milliseconds))
        }
        try connection.run(
            "INSERT OR IGNORE INTO object_duplicate (holder, zone_id, is_sent) VALUES (?, ?, 0)",
            [.integer(twin.record.id.rawValue), .integer(twin.record.zone.rawValue)])
    }

    // MARK: Removing

    /// Removes the duplicates of a zone whose relationships the server has given to another object.
    /// Called after each successful download; the first one after the upload only counts.
    func remove(in zone: ZoneID) throws(RecordError) {
        let marked = try connection.all(
            "SELECT holder, is_sent FROM object_duplicate WHERE zone_id = ?",
            [.integer(zone.rawValue)]
        ) { (record: RecordID($0.int64(0)), isSent: $0.int64(1) != 0) }
        guard !marked.isEmpty else { return }
        let isSent = try !connection.exists(
            "SELECT 1 FROM outbox WHERE zone_id = ?", [.integer(zone.rawValue)])
        for (record, wasSent) in marked {
            try remove(record, wasSent: wasSent, isSent: isSent)
        }
    }

    private func remove(
        _ record: RecordID, wasSent: Bool, isSent: Bool
    ) throws(RecordError) {
        let twins = try twins(of: record)
        guard let first = twins.first, first.record.id != record,
            let twin = twins.first(where: { $0.record.id == record })
        else {
            // It was removed, or changed so that it is no duplicate any more.
            return try unmark(record)
        }
        do throws(RecordError) {
            if try giveRelationships(of: twin, to: first) {
                try setSent(false, record)
            } else if !wasSent {
                if isSent { try setSent(true, record) }
            } else if try !current(twin).entry.hasDraft {
                let zone = twin.record.zone
                try transaction.links.noteMoved(from: twin.name, zone, to: first.name, zone)
                try transaction.records.finalizeDelete(record)
                try unmark(record)
            }
        } catch {
            guard error.code == .schemaMismatch else { throw error }
        }
    }

    private func setSent(_ isSent: Bool, _ record: RecordID) throws(RecordError) {
        try connection.run(
            "UPDATE object_duplicate SET is_sent = ? WHERE holder = ?",
            [.integer(isSent ? 1 : 0), .integer(record.rawValue)])
    }

    private func unmark(_ record: RecordID) throws(RecordError) {
        try connection.run(
            "DELETE FROM object_duplicate WHERE holder = ?", [.integer(record.rawValue)])
    }
}

extension ObjectIdentity {
    /// Returns the hash of what identifies an object. Nil for an object without a value for each
    /// attribute. Objects below different parents are never equal, because each may be in a share of
    /// its own.
    fileprivate func hash(of document: RecordDocument) -> ContentHash? {
        let values = fields.compactMap { field in
            document[field].map { RecordField(name: field, value: $0) }
        }
        guard values.count == fields.count else { return nil }
        return SHA256.hash(RecordDocument.print(values, parent: document.parent))
    }

    /// Returns the value that decides which of equal objects stays. An object without one comes
    /// last.
    fileprivate func order(of document: RecordDocument) -> [UInt8] {
        guard let order else { return [] }
        guard case .string(let value)? = document[order] else { return [0xFF] }
        return Array(value.string.uppercased().utf8)
    }
}

/// Objects of a zone that are equal by the attributes that the model names.
package struct DuplicateGroup: Sendable {
    package let zone: ZoneName
    package let type: RecordTypeName
    /// The names of their files, the one that stays first.
    package let objects: [Stem]
}
