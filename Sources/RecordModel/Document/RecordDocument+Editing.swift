extension RecordDocument {
    /// Returns whether the text has the key, also with null for its value.
    package func hasKey(_ field: FieldName) -> Bool { members.contains { $0.name == field } }

    /// Returns the text with these values replaced, inserted (at the end of the root object, in the
    /// document's own indentation) or removed (nil). Every other byte stays.
    ///
    /// When the field already has a value, setting that value changes no bytes. Leave `parent` out
    /// to keep the parent, and pass `.some(nil)` to remove it.
    ///
    /// - Parameter forms: the forms in which somebody has written new values under the names that
    ///   the text uses, such as `true` for 1. The other values are written in their usual forms.
    package func replacing(
        _ changes: [(FieldName, FieldValue?)], parent: RecordName?? = nil,
        forms: [FieldName: JSONValue] = [:]
    ) -> [UInt8] {
        var values: [FieldName: FieldValue?] = [:]
        var order: [FieldName] = []
        for (name, value) in changes {
            if values.updateValue(value, forKey: name) == nil { order.append(name) }
        }
        if let parent {
            values[.parent] = .some(parent.map { .string(Text(utf8: $0.bytes)) })
            order.append(.parent)
        }
        return DocumentEditor(document: self, changes: values, order: order, forms: forms).edited()
    }

    /// Returns the text with other names in to-many relationships. A list of the same names, in
    /// whatever order, stays as it is written. An empty one stays out of a text that has none.
    package func replacing(lists: [FieldName: [RecordName]]) -> [UInt8] {
        var changes: [(FieldName, FieldValue?)] = []
        for (name, names) in lists.sorted(by: { $0.key < $1.key }) {
            guard Set(self.lists[name] ?? []) != Set(names) else { continue }
            changes.append((name, .list(names.map { .string(Text(utf8: $0.bytes)) })))
        }
        return changes.isEmpty ? text : replacing(changes)
    }

    /// Returns the text without its to-many relationships.
    package var withoutLists: [UInt8] {
        lists.isEmpty ? text : replacing(lists.keys.sorted().map { ($0, nil) })
    }

    /// Returns the text with other names of the files of large fields. Every other byte stays, in
    /// whatever order a reference has its members.
    ///
    /// Returns nil when a name does not occur exactly once in its field in the form in which it is
    /// printed here.
    package func renamingFiles(
        _ names: [FieldName: [(old: Text, new: Text)]]
    ) -> [UInt8]? {
        var result = text
        // From the end, so that the places of the members before stay valid.
        for member in members.reversed() {
            var end = member.value.upperBound
            for (old, new) in names[member.name] ?? [] {
                let old = JSONValue.string(old).serialized()
                let new = JSONValue.string(new).serialized()
                let value = result[member.value.lowerBound..<end]
                guard let place = value.firstRange(of: old),
                    value[place.upperBound...].firstRange(of: old) == nil
                else { return nil }
                result.replaceSubrange(place, with: new)
                end += new.count - old.count
            }
        }
        return result
    }
}

/// Replaces values in the text of a record.
private struct DocumentEditor {
    let document: RecordDocument
    let changes: [FieldName: FieldValue?]
    /// The names of `changes` as the caller gave them.
    let order: [FieldName]
    let forms: [FieldName: JSONValue]
    private let layout: DocumentLayout

    private var text: [UInt8] { document.text }
    private var members: [MemberSpan] { document.members }

    init(
        document: RecordDocument, changes: [FieldName: FieldValue?], order: [FieldName],
        forms: [FieldName: JSONValue]
    ) {
        self.document = document
        self.changes = changes
        self.order = order
        self.forms = forms
        layout = DocumentLayout(document)
    }

    func edited() -> [UInt8] {
        let kept = members.indices.filter { !isRemoved(members[$0]) }
        let known = Set(members.map(\.name))
        let inserted = order.compactMap { name -> (FieldName, FieldValue)? in
            guard !known.contains(name), let value = changes[name] ?? nil,
                name != document.mapping?.constant.name
            else { return nil }
            return (name, value)
        }
        guard let last = kept.last else {
            return members.isEmpty && inserted.isEmpty ? text : rewritten(inserted)
        }
        // A run of removed members is removed with the text up to the next member that stays. A run
        // at the end is removed with the text from the last member that stays.
        var result = Array(text[..<(members.first?.key.lowerBound ?? 0)])
        for index in kept {
            let member = members[index]
            result += text[member.key.lowerBound..<member.value.lowerBound]
            result += value(of: member)
            guard index != last else { break }
            result += text[member.value.upperBound..<members[index + 1].key.lowerBound]
        }
        for (name, value) in inserted { result += layout.inserted(name, value, forms[name]) }
        return result + text[(members.last?.value.upperBound ?? 0)...]
    }

    private func isRemoved(_ member: MemberSpan) -> Bool {
        guard let change = changes[member.name] else { return false }
        return change == nil
    }

    /// The bytes of a member that stays.
    private func value(of member: MemberSpan) -> [UInt8] {
        let old = Array(text[member.value])
        guard let change = changes[member.name], let new = change else { return old }
        let current = current(member.name)
        if let current, current.isSame(as: new), !isNewAsset(current, new) { return old }
        if let form = forms[member.name], member.name == shownName(of: member) {
            return layout.replacement(form, for: old)
        }
        if case .int64(let integer) = new, old == Array("true".utf8) || old == Array("false".utf8),
            integer == 0 || integer == 1
        {
            return Array((integer == 1 ? "true" : "false").utf8)
        }
        if let mapped = document.mapping?.member(of: member.name),
            text[member.key].dropFirst().dropLast().elementsEqual(mapped.name.bytes)
        {
            return layout.replacement(mapped.json(new), for: old)
        }
        let isPlain = member.isPlain && current?.type == new.type
        return layout.replacement(new.json(plain: isPlain), for: old)
    }

    /// Returns the field that the text names in a member by the name that it shows for it.
    private func shownName(of member: MemberSpan) -> FieldName? {
        let shown = document.mapping?.name(of: member.name) ?? member.name
        let written = text[member.key].dropFirst().dropLast()
        return written.elementsEqual(shown.bytes) ? member.name : nil
    }

    private func current(_ name: FieldName) -> FieldValue? {
        if name == .parent { return document.parent.map { .string(Text(utf8: $0.bytes)) } }
        return document[name]
    }

    /// Returns whether the new value has the same content under another name, or with a hash that
    /// was not known before.
    private func isNewAsset(_ old: FieldValue, _ new: FieldValue) -> Bool {
        old.holdsAssets && old != new
    }

    /// Returns the text when no member stays.
    private func rewritten(_ inserted: [(FieldName, FieldValue)]) -> [UInt8] {
        let body = layout.body(inserted, forms)
        return text[..<document.root.lowerBound] + body + text[document.root.upperBound...]
    }
}

extension FieldValue {
    fileprivate var holdsAssets: Bool {
        switch self {
        case .asset: true
        case .list(let elements): elements.contains(where: \.holdsAssets)
        default: false
        }
    }
}
