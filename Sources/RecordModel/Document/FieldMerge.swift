/// A field that two sides have changed in different ways since their common base. A value is nil
/// where the field does not exist.
package struct FieldConflict: Sendable {
    package enum Resolution: Sendable {
        case local
        case remote
        /// A value that has both changes: nothing is lost, and nothing is reported.
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

    /// The merged text, when both sides changed a text of several lines at different places. It is
    /// nil in all other cases.
    package var mergedLines: FieldValue? {
        guard case .string(let base) = base, case .string(let local) = local,
            case .string(let remote) = remote
        else { return nil }
        return LineMerge.merge(base: base, local: local, remote: remote).map { .string($0) }
    }
}

/// Three-way merge by field, for remote changes that meet local ones.
package enum FieldMerge {
    /// Merges the fields of two sides.
    ///
    /// A field that one side changed gets that side's value (also when that side removed the
    /// field). A field that both sides changed differently is reported and gets the value that
    /// `resolve` chooses. A field that both sides have with different values is treated in this way
    /// too when there is no common base.
    ///
    /// The merged fields are in the local order, followed by the new fields of the remote side.
    /// - Parameter isLater: returns whether a remote value that equals the base's is an edit
    ///   nevertheless.
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

    /// Returns the added or changed fields in the order of `new`, then the removed ones in the
    /// order of `old`.
    package static func changedFields(from old: [RecordField], to new: [RecordField])
        -> [FieldName]
    {
        // A new record: nothing is compared.
        if old.isEmpty { return new.map(\.name) }
        // Most saves change little of a record: only the fields between the equal ends are looked
        // up by name.
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

    /// Returns whether both sides have an equal value, or none.
    package static func isSame(_ left: FieldValue?, _ right: FieldValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.isSame(as: right)
        default: false
        }
    }
}
