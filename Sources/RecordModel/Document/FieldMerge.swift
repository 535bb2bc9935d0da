/// Three-way merge by field, for remote changes that meet local ones.
package enum FieldMerge {
    /// A field that one side changed gets that side's value (also when it removed the field). A
    /// field that both changed differently keeps the local value and is reported; so does one that
    /// both have with different values when there is no common base.
    ///
    /// The merged fields stand in the local order, followed by what is new from the remote side.
    package static func merge(
        base: [RecordField]?, local: [RecordField], remote: [RecordField]
    ) -> (merged: [RecordField], conflicts: [FieldName]) {
        let base = values(base ?? [])
        let localValues = values(local)
        let remoteValues = values(remote)
        var merged: [RecordField] = []
        var conflicts: [FieldName] = []
        let remoteOnly = remote.filter { localValues[$0.name] == nil }
        let names = local.map(\.name) + remoteOnly.map(\.name)
        for name in names {
            let (mine, theirs) = (localValues[name], remoteValues[name])
            let winner: FieldValue?
            if isSame(mine, theirs) || isSame(mine, base[name]) {
                winner = theirs
            } else {
                winner = mine
                if !isSame(theirs, base[name]) { conflicts.append(name) }
            }
            if let winner { merged.append(RecordField(name: name, value: winner)) }
        }
        return (merged, conflicts)
    }

    /// Added or changed fields in the order of `new`, then removed ones in the order of `old`.
    package static func changedFields(from old: [RecordField], to new: [RecordField])
        -> [FieldName]
    {
        // Most saves change little of a record: only what lies between is looked up by name.
        let same = zip(old, new).prefix { isSame($0, $1) }.count
        let rest = zip(old[same...].reversed(), new[same...].reversed())
        let sameAtEnd = rest.prefix { isSame($0, $1) }.count
        let old = old[same..<(old.count - sameAtEnd)]
        let new = new[same..<(new.count - sameAtEnd)]
        let oldValues = values(old)
        let newNames = Set(new.map(\.name))
        return new.filter { !isSame($0.value, oldValues[$0.name]) }.map(\.name)
            + old.map(\.name).filter { !newNames.contains($0) }
    }

    private static func isSame(_ left: RecordField, _ right: RecordField) -> Bool {
        left.name == right.name && left.value.isSame(as: right.value)
    }

    private static func values(_ fields: some Sequence<RecordField>) -> [FieldName: FieldValue] {
        Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    private static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isSame(as: right)
        default: false
        }
    }
}
