import RecordModel
import RecordObjects
import RecordSQL

/// The changes that a save or a deletion of an object makes at the other sides of its relationships.
extension ObjectLinks {
    private var connection: SQLConnection { transaction.connection }

    /// Gives the objects at the other sides the keys that the text of an object says. A to-many
    /// relationship that the text leaves out stays as it is. A new object takes the keys that have
    /// been waiting for it.
    ///
    /// - Parameter before: the keys that the object had.
    ///
    /// Errors: `schemaMismatch` for a name of an object that the relationship cannot have or that is
    /// in another zone, and for an object with a text that is not saved.
    func follow(
        _ text: [UInt8], of record: RecordID, in place: TypePlace, isNew: Bool, before: Set<Row>
    ) throws(RecordError) {
        guard transaction.author != .sync, let mapping = transaction.model?.mapping else { return }
        let relations = mapping.relations(of: place.name)
        guard !relations.isEmpty,
            let name = try connection.records.stored(record)?.name
        else { return }
        let document = try transaction.records.parse(text, place)
        let isPrivate = transaction.model?.privateTypes.contains(place.name) == true
        for relation in relations {
            let list = ObjectList(
                zone: place.zone.id, owner: name, relationship: relation.name)
            if let field = relation.listField {
                guard let wanted = document.lists[relation.name] else { continue }
                try follow(
                    relation, list, by: field, wanted: Set(wanted), of: name, in: place)
            } else if case .key(let field) = relation.form {
                var target: RecordName?
                if case .string(let text)? = document[field], !text.isEmpty {
                    target = RecordName(bytes: text.utf8)
                }
                let had = before.contains { $0.field == field && $0.owner == target }
                if let target, !had, !isPrivate {
                    try checkZones(of: [target], as: relation, by: name, in: place)
                }
                guard relation.hasOneInverse else { continue }
                if isNew, target == nil, try takeWaiting(relation, list, by: field) { continue }
                try follow(relation, list, by: field, target: target)
            }
        }
        try endWaiting(for: name, in: place.zone.id)
    }

    /// Returns the relationships of a text whose writer began with an earlier one: with what others
    /// have added since, and without what they have removed.
    func merged(
        _ mine: RecordDocument, since base: RecordDocument?, of name: RecordName?,
        in place: TypePlace
    ) throws(RecordError) -> [FieldName: [RecordName]] {
        guard !mine.lists.isEmpty, let name, let mapping = transaction.model?.mapping else {
            return [:]
        }
        var merged: [FieldName: [RecordName]] = [:]
        for relation in mapping.relations(of: place.name) {
            guard let field = relation.listField, let wanted = mine.lists[relation.name] else {
                continue
            }
            let list = ObjectList(zone: place.zone.id, owner: name, relationship: relation.name)
            let before = Set(base?.lists[relation.name] ?? [])
            let names = Set(try names(in: list, by: field))
                .union(Set(wanted).subtracting(before))
                .subtracting(before.subtracting(wanted))
            merged[relation.name] = names.sorted()
        }
        return merged
    }

    private func follow(
        _ relation: Relation, _ list: ObjectList, by field: FieldName, wanted: Set<RecordName>,
        of name: RecordName, in place: TypePlace
    ) throws(RecordError) {
        let current = Set(try names(in: list, by: field))
        try checkZones(of: wanted.subtracting(current), as: relation, by: name, in: place)
        for member in wanted.subtracting(current).sorted() {
            try add(member, to: list, of: relation)
        }
        for member in current.subtracting(wanted).sorted() {
            try remove(member, from: list, of: relation)
        }
    }

    private func add(
        _ member: RecordName, to list: ObjectList, of relation: Relation
    ) throws(RecordError) {
        guard let record = try connection.records.stored(named: member, list.zone),
            record.state == .saved
        else {
            return try addWaiting(member, to: list, by: relation.listField ?? Self.linkField)
        }
        switch relation.form {
        case .key: break
        case .keys(let field): try setKey(field, of: record, to: list.owner, as: relation)
        case .links:
            // The other side may have said it in the same transaction.
            guard let inverse = relation.inverse, try links(in: list, to: member).isEmpty else {
                return
            }
            try checkIsObject(record, with: inverse, as: relation)
            try makeLink(list.owner, member, relation, inverse, in: list.zone)
        }
    }

    private func remove(
        _ member: RecordName, from list: ObjectList, of relation: Relation
    ) throws(RecordError) {
        try removeWaiting(member, from: list)
        // The other object may have been waiting for this one since before it had its name.
        if let inverse = relation.inverse {
            let others = ObjectList(zone: list.zone, owner: member, relationship: inverse)
            try removeWaiting(list.owner, from: others)
        }
        if case .keys(let field) = relation.form {
            guard let record = try connection.records.stored(named: member, list.zone)
            else { return }
            return try setKey(field, of: record, to: nil, as: relation)
        }
        // Doubles are removed together.
        for link in try links(in: list, to: member) { try transaction.records.finalizeDelete(link) }
    }

    /// Takes an object out of a to-many relationship, and puts it into the same one of another
    /// object.
    func move(
        _ member: RecordName, from list: ObjectList, to new: ObjectList, of relation: Relation
    ) throws(RecordError) {
        if case .keys(let field) = relation.form,
            let record = try connection.records.stored(named: member, list.zone),
            record.state == .saved
        {
            // A single change of the object.
            return try setKey(field, of: record, to: new.owner, as: relation)
        }
        try remove(member, from: list, of: relation)
        let field = relation.listField ?? Self.linkField
        if try !names(in: new, by: field).contains(member) {
            try add(member, to: new, of: relation)
        }
    }

    /// Keeps both sides of a one-to-one relationship the same, and clears those that were there
    /// before.
    func follow(
        _ relation: Relation, _ list: ObjectList, by field: FieldName, target: RecordName?
    ) throws(RecordError) {
        guard let inverse = relation.inverse else { return }
        let back = MirroredSchema.field(of: "\(inverse)")
        for former in try names(in: list, by: back) where former != target {
            try clear(back, of: former, in: list.zone, as: relation)
        }
        guard let target else { return }
        let others = ObjectList(zone: list.zone, owner: target, relationship: inverse)
        for other in try names(in: others, by: field) where other != list.owner {
            try clear(field, of: other, in: list.zone, as: relation)
        }
        guard let record = try connection.records.stored(named: target, list.zone),
            record.state == .saved
        else { return }
        try setKey(back, of: record, to: list.owner, as: relation)
    }

    /// Links a new object to the one that names it in a one-to-one relationship. Returns whether
    /// there is one.
    private func takeWaiting(
        _ relation: Relation, _ list: ObjectList, by field: FieldName
    ) throws(RecordError) -> Bool {
        guard let inverse = relation.inverse,
            let waiting = try names(in: list, by: MirroredSchema.field(of: "\(inverse)")).first,
            let record = try connection.records.stored(named: list.owner, list.zone)
        else { return false }
        try setKey(field, of: record, to: waiting, as: relation)
        try follow(relation, list, by: field, target: waiting)
        return true
    }

    func clear(
        _ field: FieldName, of name: RecordName, in zone: ZoneID, as relation: Relation
    ) throws(RecordError) {
        guard let record = try connection.records.stored(named: name, zone) else {
            return
        }
        try setKey(field, of: record, to: nil, as: relation)
    }

    /// Sets the key of another object, as a save of that object would.
    func setKey(
        _ field: FieldName, of record: StoredRow, to target: RecordName?, as relation: Relation
    ) throws(RecordError) {
        guard record.state == .saved else { return }
        let type = try transaction.place(record.entry.type).name
        guard transaction.model?.members(of: type)?.member(of: field) != nil else {
            throw noObject(record, relation)
        }
        try set(field, of: record, to: target.map { .string(Text(utf8: $0.bytes)) })
    }

    /// Sets a field of another object, as a save of that object would.
    func set(
        _ field: FieldName, of record: StoredRow, to value: FieldValue?
    ) throws(RecordError) {
        guard let text = try connection.records.savedText(of: record.id) else { return }
        let place = try transaction.place(record.entry.type)
        let document = try transaction.records.parse(text, place)
        guard !FieldMerge.isSame(document[field], value) else { return }
        guard !record.entry.hasDraft else {
            throw RecordError(
                .schemaMismatch,
                "\(record.entry.stem).json has a text that is not saved, and its relationship would "
                    + "change; fix that text first")
        }
        _ = try transaction.records.update(
            record,
            to: RecordWriting.NewState(
                text: document.replacing([(field, value)]), place: place,
                stem: record.entry.stem))
    }

    private func checkIsObject(
        _ record: StoredRow, with inverse: FieldName, as relation: Relation
    ) throws(RecordError) {
        let type = try transaction.place(record.entry.type).name
        let relations = transaction.model?.mapping.relations(of: type) ?? []
        let isObject = relations.contains { $0.name == inverse && $0.inverse == relation.name }
        guard !isObject else { return }
        throw noObject(record, relation)
    }

    private func noObject(_ record: StoredRow, _ relation: Relation) -> RecordError {
        RecordError(
            .schemaMismatch,
            "\"\(relation.name)\" takes names of \(relation.destination), and \(record.entry.stem) "
                + "is none")
    }

    func makeLink(
        _ owner: RecordName, _ member: RecordName, _ relation: Relation, _ inverse: FieldName,
        in zone: ZoneID
    ) throws(RecordError) {
        for name in [owner, member] where name.bytes.contains(UInt8(ascii: ":")) {
            throw RecordError(
                .schemaMismatch,
                "\"\(relation.name)\" cannot have \(name): Core Data separates names by a colon")
        }
        let link = ObjectLink(
            ObjectLink.End(entity: relation.owner, record: owner, relationship: relation.name),
            ObjectLink.End(entity: relation.destination, record: member, relationship: inverse))
        _ = try transaction.records.save(
            text: RecordDocument.print(link.fields, parent: nil),
            type: try transaction.makeType(zone, MirroredSchema.linkType).id,
            stem: Stem(bytes: UUIDText.random()))
    }

    /// Links an object that others have been waiting for. A name that turns out to be of another
    /// entity leaves the relationship.
    func endWaiting(for name: RecordName, in zone: ZoneID) throws(RecordError) {
        for list in try waiting(for: name, in: zone) {
            guard let owner = try connection.records.stored(named: list.owner, zone),
                owner.state == .saved
            else { continue }
            let type = try transaction.place(owner.entry.type).name
            let relation = transaction.model?.mapping.relations(of: type).first {
                $0.name == list.relationship
            }
            try removeWaiting(name, from: list)
            guard let relation else { continue }
            do throws(RecordError) {
                try add(name, to: list, of: relation)
            } catch {
                guard error.code == .schemaMismatch else { throw error }
            }
        }
    }

    // MARK: Deletions

    /// Does what the delete rules of an object's relationships say. The objects that refer to a
    /// renamed one follow it.
    func followDeletion(
        of record: StoredRow, _ name: RecordName, in place: TypePlace
    ) throws(RecordError) {
        guard transaction.author != .sync, let mapping = transaction.model?.mapping else { return }
        let relations = mapping.relations(of: place.name)
        guard !relations.isEmpty, transaction.deletedObjects.insert(record.id).inserted else {
            return
        }
        let copy = try connection.renamed(record.id)
        if copy == nil { try noteDeleted(name, in: record.zone) }
        for relation in relations {
            let list = ObjectList(zone: record.zone, owner: name, relationship: relation.name)
            if let copy {
                guard copy.zone == record.zone, copy.state == .saved else { continue }
                try follow(copy, from: list, relation)
            } else {
                try followDeletion(relation, list, of: record)
            }
        }
    }

    private func followDeletion(
        _ relation: Relation, _ list: ObjectList, of record: StoredRow
    ) throws(RecordError) {
        guard relation.deleteRule != .noAction else { return }
        let members = try members(of: relation, list, record)
        if relation.deleteRule == .cascade {
            for member in members {
                guard
                    let object = try connection.records.stored(
                        named: member, list.zone),
                    object.state != .draftOnly, !transaction.deletedObjects.contains(object.id)
                else { continue }
                try followDeletion(
                    of: object, member, in: transaction.placeUntilFinal(object.entry.type))
                try transaction.records.finalizeDelete(object.id)
            }
        }
        if let field = relation.listField {
            for member in try names(in: list, by: field) {
                try remove(member, from: list, of: relation)
            }
        } else if case .key(let field) = relation.form, relation.hasOneInverse {
            try follow(relation, list, by: field, target: nil)
        }
    }

    /// Returns the objects in a relationship of an object that is about to be deleted.
    private func members(
        of relation: Relation, _ list: ObjectList, _ record: StoredRow
    ) throws(RecordError) -> [RecordName] {
        if let field = relation.listField { return try names(in: list, by: field) }
        guard case .key(let field) = relation.form,
            let text = try connection.records.wholeSavedText(of: record.id)
        else { return [] }
        let place = try transaction.placeUntilFinal(record.entry.type)
        guard case .string(let target)? = try transaction.records.parse(text, place)[field] else {
            return []
        }
        return [RecordName(bytes: target.utf8)]
    }

    /// Makes the objects in a relationship refer to the new name of a renamed object.
    private func follow(
        _ copy: StoredRow, from list: ObjectList, _ relation: Relation
    ) throws(RecordError) {
        guard let name = copy.name else { return }
        let new = ObjectList(zone: list.zone, owner: name, relationship: relation.name)
        if let field = relation.listField {
            for member in try names(in: list, by: field) {
                try move(member, from: list, to: new, of: relation)
            }
            // Others may have been waiting for the new name.
            touch(new)
        } else if relation.hasOneInverse, let inverse = relation.inverse {
            let back = MirroredSchema.field(of: "\(inverse)")
            for member in try names(in: list, by: back) {
                guard let record = try connection.records.stored(named: member, list.zone) else {
                    continue
                }
                try setKey(back, of: record, to: name, as: relation)
                try settlePair(new, copy, member, wasWaiting: true)
            }
            for member in try names(in: new, by: back) {
                try settlePair(new, copy, member, wasWaiting: true)
            }
        }
    }
}
