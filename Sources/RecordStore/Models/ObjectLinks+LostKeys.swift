package import RecordModel
import RecordObjects
import RecordSQL

/// Edits that no user has made: when an object is deleted, every machine takes away the keys that
/// lead to it, and those to objects that no longer name it in a one-to-one relationship. Such an edit
/// does not bring back an object that somebody has deleted meanwhile.
extension ObjectLinks {
    /// Returns whether a state of a record differs from the one before only by missing keys, to
    /// objects that are not here any more or do not name it.
    package func hasOnlyLostKeys(
        _ document: RecordDocument, since base: RecordDocument, of name: RecordName,
        _ type: RecordTypeName, in zone: ZoneID
    ) throws(RecordError) -> Bool {
        guard base.parent == document.parent,
            let relations = transaction.model?.mapping.relations(of: type)
        else { return false }
        let changed = FieldMerge.changedFields(from: base.fields, to: document.fields)
        for field in changed {
            guard document[field] == nil, case .string(let key)? = base[field],
                let relation = relations.first(where: { $0.isKey(field) }),
                try isLost(RecordName(bytes: key.utf8), relation, of: name, in: zone)
            else { return false }
        }
        return !changed.isEmpty
    }

    private func isLost(
        _ key: RecordName, _ relation: Relation, of name: RecordName, in zone: ZoneID
    ) throws(RecordError) -> Bool {
        let target = try transaction.connection.records.stored(named: key, zone)
        guard target?.state == .saved else { return true }
        guard relation.hasOneInverse, let inverse = relation.inverse else { return false }
        let list = ObjectList(zone: zone, owner: name, relationship: relation.name)
        return try !names(in: list, by: MirroredSchema.field(of: "\(inverse)")).contains(key)
    }
}
