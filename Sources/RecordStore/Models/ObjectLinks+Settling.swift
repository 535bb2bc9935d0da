package import RecordModel
import RecordObjects
import RecordSQL

/// The keys that lead nowhere because two machines have changed both sides of a relationship without
/// knowing of each other: one has deleted an object, or linked it to another one, and the other has
/// set a key to it.
///
/// What arrives only raises a doubt. At the end of the download each doubt is settled by a change of
/// this machine, which is sent: all machines come to the same result, in whatever order. A key whose
/// object this machine has never had stays, because the object may still arrive.
extension ObjectLinks {
    private var connection: SQLConnection { transaction.connection }

    // MARK: Doubts

    /// Notes that the key of a member may lead to an object that does not name it.
    ///
    /// - Parameter wasWaiting: whether the key was there before the object.
    func doubt(
        _ list: ObjectList, member: RecordName, wasWaiting: Bool = false
    ) throws(RecordError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO object_doubt
                (zone_id, owner, relationship, member, was_waiting)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .integer(list.zone.rawValue), .name(list.owner), .name(list.relationship),
                .name(member), .integer(wasWaiting ? 1 : 0),
            ])
    }

    /// Notes the keys of one-to-one relationships that were there before an object that has arrived,
    /// and that it does not answer.
    func doubtEarlier(
        _ name: RecordName, _ document: RecordDocument, _ relations: [Relation], in zone: ZoneID
    ) throws(RecordError) {
        for relation in relations where relation.hasOneInverse {
            guard case .key(let field) = relation.form, let inverse = relation.inverse else {
                continue
            }
            let list = ObjectList(zone: zone, owner: name, relationship: relation.name)
            for member in try names(in: list, by: MirroredSchema.field(of: "\(inverse)")) {
                let key = FieldValue.string(Text(utf8: member.bytes))
                if FieldMerge.isSame(document[field], key) { continue }
                try doubt(list, member: member, wasWaiting: true)
            }
        }
    }

    /// Notes the former partners of an object in one-to-one relationships: they still name it, unless
    /// their changes have come, too.
    ///
    /// - Parameter gone: the rows that the object no longer has.
    func doubtFormer(
        _ name: RecordName, _ gone: Set<Row>, _ relations: [Relation], in zone: ZoneID
    ) throws(RecordError) {
        for row in gone {
            for relation in relations where relation.hasOneInverse && relation.isKey(row.field) {
                let list = ObjectList(zone: zone, owner: name, relationship: relation.name)
                try doubt(list, member: row.owner)
            }
        }
    }

    /// Notes the keys of one-to-one relationships that an object has got under its new name: the
    /// other side may name another object, which has the former name by now.
    package func doubtKeys(
        of record: StoredRow, named name: RecordName, _ place: TypePlace
    ) throws(RecordError) {
        guard let mapping = transaction.model?.mapping else { return }
        let rows = try rows(of: record.id)
        for relation in mapping.relations(of: place.name) where relation.hasOneInverse {
            for row in rows where relation.isKey(row.field) {
                let list = ObjectList(
                    zone: place.zone.id, owner: row.owner, relationship: row.relationship)
                try doubt(list, member: name, wasWaiting: true)
            }
        }
    }

    /// Notes lists of an object that is not here. Those of an object that has never been here raise
    /// no doubt.
    func doubt(_ lists: [ObjectList]) throws(RecordError) {
        guard let list = lists.first, try lastType(of: list.owner, in: list.zone) != nil else {
            return
        }
        for list in lists { try doubt(list, member: RecordName(bytes: [])) }
    }

    /// Notes where an object is that has left a name. Zone 0 is a zone that is not on this machine.
    package func noteMoved(
        from name: RecordName, _ zone: ZoneID, to newName: RecordName, _ newZone: ZoneID
    ) throws(RecordError) {
        guard transaction.model != nil else { return }
        try noteDeleted(newName, in: newZone)
        try connection.run(
            """
            INSERT OR REPLACE INTO object_move (zone_id, name, new_zone_id, new_name)
            VALUES (?, ?, ?, ?)
            """,
            [
                .integer(zone.rawValue), .name(name), .integer(newZone.rawValue), .name(newName),
            ])
    }

    /// Forgets where the object is that had a name before the one that has been deleted.
    package func noteDeleted(_ name: RecordName, in zone: ZoneID) throws(RecordError) {
        guard transaction.model != nil else { return }
        try connection.run(
            "DELETE FROM object_move WHERE zone_id = ? AND name = ?",
            [.integer(zone.rawValue), .name(name)])
    }

    // MARK: Settling

    /// Settles all doubts of a zone whose download has ended.
    func settle(_ zone: ZoneID) throws(RecordError) {
        let doubts = try connection.all(
            """
            SELECT owner, relationship, member, was_waiting FROM object_doubt WHERE zone_id = ?
            """, [.integer(zone.rawValue)]
        ) {
            Doubt(
                list: ObjectList(
                    zone: zone, owner: RecordName(bytes: $0.bytes(0)),
                    relationship: FieldName(bytes: $0.bytes(1))),
                member: RecordName(bytes: $0.bytes(2)), wasWaiting: $0.int64(3) != 0)
        }
        for doubt in doubts where try settle(doubt) {
            try connection.run(
                """
                DELETE FROM object_doubt
                WHERE zone_id = ? AND owner = ? AND relationship = ? AND member = ?
                """,
                [
                    .integer(zone.rawValue), .name(doubt.list.owner),
                    .name(doubt.list.relationship), .name(doubt.member),
                ])
        }
    }

    private struct Doubt {
        let list: ObjectList
        let member: RecordName
        let wasWaiting: Bool
    }

    /// - Returns: whether it is settled. A member with a text that is not saved is left for later.
    private func settle(_ doubt: Doubt) throws(RecordError) -> Bool {
        do throws(RecordError) {
            let list = doubt.list
            if let owner = try connection.records.stored(named: list.owner, list.zone) {
                if !doubt.member.bytes.isEmpty, owner.state == .saved {
                    try settlePair(list, owner, doubt.member, wasWaiting: doubt.wasWaiting)
                }
            } else {
                try settleGone(list)
            }
            return true
        } catch {
            switch error.code {
            case .schemaMismatch: return false
            // In a zone of others, those who may write do it.
            case .accessDenied, .readOnly, .notPermitted: return true
            default: throw error
            }
        }
    }

    /// Clears the key of an object that names another one, which names none or a third one by now.
    /// One that names none, or that is not named back, takes a key that was waiting for it.
    func settlePair(
        _ list: ObjectList, _ owner: StoredRow, _ member: RecordName, wasWaiting: Bool
    ) throws(RecordError) {
        let type = try transaction.place(owner.entry.type).name
        guard let relation = relation(list.relationship, of: type), let inverse = relation.inverse
        else { return }
        let back = MirroredSchema.field(of: "\(inverse)")
        let members = try names(in: list, by: back)
        guard case .key(let field) = relation.form, members.contains(member) else { return }
        let named = try rows(of: owner.id).first { $0.field == field }?.owner
        if named == member { return }
        let isTaken = named.map(members.contains) ?? false
        if wasWaiting, !isTaken {
            try setKey(field, of: owner, to: member, as: relation)
        } else {
            try clear(back, of: member, in: list.zone, as: relation)
        }
    }

    /// Makes the keys to an object that is not here any more lead to its new name, or nowhere.
    private func settleGone(_ list: ObjectList) throws(RecordError) {
        guard let type = try lastType(of: list.owner, in: list.zone),
            let relation = relation(list.relationship, of: type)
        else { return }
        let target: StoredRow?
        switch try whereabouts(of: list.owner, in: list.zone) {
        case .elsewhere: return
        case .renamed(let record): target = record
        case .deleted: target = nil
        }
        guard target != nil || relation.deleteRule != .noAction else { return }
        for field in try fields(of: list) {
            for member in try names(in: list, by: field) {
                if field == Self.linkField {
                    try settleLink(list, relation, member, target)
                } else {
                    try settleKey(field, list, relation, member, target)
                }
            }
        }
    }

    private func settleKey(
        _ field: FieldName, _ list: ObjectList, _ relation: Relation, _ member: RecordName,
        _ target: StoredRow?
    ) throws(RecordError) {
        guard let record = try connection.records.stored(named: member, list.zone) else { return }
        try setKey(field, of: record, to: target?.name, as: relation)
        guard !relation.isList, let target, let name = target.name else { return }
        let new = ObjectList(zone: list.zone, owner: name, relationship: relation.name)
        try settlePair(new, target, member, wasWaiting: true)
    }

    private func settleLink(
        _ list: ObjectList, _ relation: Relation, _ member: RecordName, _ target: StoredRow?
    ) throws(RecordError) {
        if let name = target?.name, let inverse = relation.inverse {
            try makeLink(name, member, relation, inverse, in: list.zone)
        }
        for link in try links(in: list, to: member) {
            try transaction.records.finalizeDelete(link)
        }
    }

    private enum Whereabouts {
        case deleted
        case renamed(StoredRow)
        /// In another zone.
        case elsewhere
    }

    /// The number of renames of an object that are followed.
    private static let renamesMax = 100

    private func whereabouts(
        of name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> Whereabouts {
        var name = name
        for _ in 0..<Self.renamesMax {
            let next = try connection.first(
                "SELECT new_zone_id, new_name FROM object_move WHERE zone_id = ? AND name = ?",
                [.integer(zone.rawValue), .name(name)]
            ) { (zone: ZoneID($0.int64(0)), name: RecordName(bytes: $0.bytes(1))) }
            guard let next else { return .deleted }
            guard next.zone == zone else { return .elsewhere }
            name = next.name
            if let record = try connection.records.stored(named: name, zone) {
                return record.state == .saved ? .renamed(record) : .deleted
            }
        }
        return .deleted
    }

    // MARK: What is known

    private func relation(_ name: FieldName, of type: RecordTypeName) -> Relation? {
        transaction.model?.mapping.relations(of: type).first { $0.name == name }
    }

    /// Returns the type of the last record with a name that was deleted or has left the name. Nil
    /// when there was none.
    private func lastType(
        of name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> RecordTypeName? {
        try connection.first(
            "SELECT type FROM history WHERE zone_id = ? AND name = ? ORDER BY token DESC LIMIT 1",
            [.integer(zone.rawValue), .name(name)]
        ) { RecordTypeName(bytes: $0.bytes(0)) }
    }

    /// Returns the relationships of an object in which others are.
    func relationships(
        of owner: RecordName, in zone: ZoneID
    ) throws(RecordError) -> [FieldName] {
        try connection.all(
            "SELECT DISTINCT relationship FROM object_link WHERE zone_id = ? AND owner = ?",
            [.integer(zone.rawValue), .name(owner)]
        ) { FieldName(bytes: $0.bytes(0)) }
    }

    private func fields(of list: ObjectList) throws(RecordError) -> [FieldName] {
        try connection.all(
            """
            SELECT DISTINCT field FROM object_link
            WHERE zone_id = ? AND owner = ? AND relationship = ? AND holder != 0
            """,
            [.integer(list.zone.rawValue), .name(list.owner), .name(list.relationship)]
        ) { FieldName(bytes: $0.bytes(0)) }
    }
}
