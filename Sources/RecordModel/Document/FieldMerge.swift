/// A field that two sides have changed since their common base, in two ways. Nil where it is not.
package struct FieldConflict: Sendable {
    package enum Resolution: Sendable {
        case local
        case remote
        /// A value that has both changes: nothing is lost, and nothing reported.
        case both(FieldValue)
    }

    package let name: FieldName
    package let base: FieldValue?
    package let local: FieldValue?
    package let remote: FieldValue?

    package init(name: FieldName, base: FieldValue?, local: FieldValue?, remote: FieldValue?) {
        self.name = name
        self.base = base
        self.local = local
        self.remote = remote
    }

    /// Texts of several lines that were changed at different places.
    package var mergedLines: FieldValue? {
        guard case .string(let base) = base, case .string(let local) = local,
            case .string(let remote) = remote
        else { return nil }
        return LineMerge.merge(base: base, local: local, remote: remote).map { .string($0) }
    }
}

/// Three-way merge by field, for remote changes that meet local ones.
package enum FieldMerge {
    /// A field that one side changed gets that side's value (also when it removed the field). A
    /// field that both changed differently is reported and gets what `resolve` says; so does one
    /// that both have with different values when there is no common base.
    ///
    /// The merged fields stand in the local order, followed by what is new from the remote side.
    /// - Parameter isLater: whether a remote value that is the base's is an edit all the same.
    package static func merge<Failure: Error>(
        base: [RecordField]?, local: [RecordField], remote: [RecordField],
        isLater: (FieldName) throws(Failure) -> Bool,
        resolve: (FieldConflict) throws(Failure) -> FieldConflict.Resolution
    ) throws(Failure) -> (merged: [RecordField], conflicts: [FieldName]) {
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
            } else if isSame(theirs, base[name]), try !isLater(name) {
                winner = mine
            } else {
                let conflict = FieldConflict(
                    name: name, base: base[name], local: mine, remote: theirs)
                switch try resolve(conflict) {
                case .local: winner = mine
                case .remote: winner = theirs
                case .both(let value):
                    merged.append(RecordField(name: name, value: value))
                    continue
                }
                conflicts.append(name)
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

    /// The same value, or none on both sides.
    package static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isSame(as: right)
        default: false
        }
    }
}
