extension RecordDocument {
    /// Returns the text with the members of a JSON merge patch (RFC 7396). A member of the patch
    /// takes the place of the one with its key, null removes it, and members of nested JSON are
    /// merged. Every other byte stays.
    ///
    /// - Parameter patch: an object. Its values are read as those of a file are, by the types of
    ///   the schema.
    /// - Throws: the errors of `init` about a value of the patch, without a position; unsupported
    ///   for removing a field that has a file.
    package func patched(
        _ patch: JSONValue, schema: RecordSchema, limits: RecordLimits = .standard
    ) throws(RecordError) -> [UInt8] {
        guard let members = patch.object else {
            throw RecordError(
                .invalidRecord, "a patch is an object in { }, and this is \(patch.kind)")
        }
        let whole = try members.map { (member) throws(RecordError) in
            JSONMember(key: member.key, value: try merged(member))
        }
        let spoken = try Self.spoken(.object(whole), schema, limits)
        var changes: [(FieldName, FieldValue?)] = []
        for name in spoken.members.map(\.name) where name != .parent {
            if let names = spoken.lists[name] {
                guard Set(names) != Set(lists[name] ?? []) else { continue }
                changes.append((name, .list(names.map { .string(Text(utf8: $0.bytes)) })))
            } else {
                if spoken[name] == nil { try checkHasNoFile(name) }
                changes.append((name, spoken[name]))
            }
        }
        return replacing(
            changes, parent: spoken.hasKey(.parent) ? .some(spoken.parent) : nil,
            forms: forms(of: whole))
    }

    /// Returns the values of a patch as it writes them, under the names that texts show.
    private func forms(of patch: [JSONMember]) -> [FieldName: JSONValue] {
        var forms: [FieldName: JSONValue] = [:]
        for member in patch where !member.value.isNull {
            let name = FieldName(bytes: member.key.utf8)
            guard name.isValid, mapping?.lists.contains(name) != true else { continue }
            let field = mapping?.field(of: name) ?? name
            if (mapping?.name(of: field) ?? field) == name { forms[field] = member.value }
        }
        return forms
    }

    /// Returns the first member of `expected`, an object, that this record does not have with that
    /// value. A null is met by a record without the member. Returns nil when the record has all.
    ///
    /// - Throws: the errors of `init` about a value, without a position.
    package func firstMember(
        unlike expected: JSONValue, schema: RecordSchema
    ) throws(RecordError) -> FieldName? {
        let spoken = try Self.spoken(expected, schema, .standard)
        return spoken.members.map(\.name).first { name in
            if name == .parent { return spoken.parent != parent }
            if let names = spoken.lists[name] { return Set(names) != Set(lists[name] ?? []) }
            switch (spoken[name], self[name]) {
            case (nil, nil): return false
            case (let wanted?, let value?): return !wanted.isSame(as: value)
            default: return true
            }
        }
    }

    private static func spoken(
        _ members: JSONValue, _ schema: RecordSchema, _ limits: RecordLimits
    ) throws(RecordError) -> RecordDocument {
        do throws(RecordError) {
            return try RecordDocument(
                parsing: members.serialized(), schema: schema, limits: limits)
        } catch {
            // The position is one in a text that nobody has written.
            throw RecordError(error.code, error.message)
        }
    }

    private func merged(_ member: JSONMember) throws(RecordError) -> JSONValue {
        let name = FieldName(bytes: member.key.utf8)
        let field = mapping?.field(of: name) ?? name
        guard member.value.object != nil, let span = members.first(where: { $0.name == field })
        else { return member.value.mergedOnto(nil) }
        return member.value.mergedOnto(try JSONParser.parse(Array(text[span.value])))
    }

    private func checkHasNoFile(_ name: FieldName) throws(RecordError) {
        switch self[name] {
        case .asset: break
        case .list(let elements) where elements.contains(where: { $0.type == .asset }): break
        default: return
        }
        throw RecordError(
            .unsupported, "\"\(name)\" has a file; remove the file to remove the field")
    }
}

extension JSONValue {
    /// Returns what a JSON merge patch makes of a value.
    fileprivate func mergedOnto(_ old: JSONValue?) -> JSONValue {
        guard case .object(let changes) = self, !isTagged else { return self }
        var members = old.flatMap { $0.isTagged ? nil : $0.object } ?? []
        for change in changes {
            let place = members.firstIndex { $0.key == change.key }
            guard !change.value.isNull else {
                if let place { members.remove(at: place) }
                continue
            }
            let member = JSONMember(
                key: change.key, value: change.value.mergedOnto(place.map { members[$0].value }))
            if let place { members[place] = member } else { members.append(member) }
        }
        return .object(members)
    }

    /// Indicates whether the object is the form of one value, such as a reference.
    private var isTagged: Bool {
        object?.contains { $0.key.utf8.first == UInt8(ascii: "$") } ?? false
    }
}
