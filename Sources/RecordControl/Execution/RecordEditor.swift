import RecordModel
import RecordStore

/// Edits records by their members, or answers about a text, for a program.
struct RecordEditor {
    let store: RecordStore
    /// The name that the program has given itself.
    let author: AuthorName?

    func run(_ request: EditRequest) throws(RecordError) -> ControlReply {
        switch request {
        case .patch(let paths, let patch, let condition, let isRehearsal):
            try self.patch(paths, patch, condition: condition, isRehearsal: isRehearsal)
        case .amend(let path, let text, let since): try amend(path, text, since: since)
        case .check(let path, let text): try check(path, text)
        }
    }

    // MARK: Patches

    private func patch(
        _ paths: [RecordPath], _ patch: JSONValue, condition: JSONValue?, isRehearsal: Bool
    ) throws(RecordError) -> ControlReply {
        let body = { (transaction: Transaction) throws(RecordError) -> [JSONValue] in
            try paths.map { (path) throws(RecordError) in
                do throws(RecordError) {
                    return try self.patch(path, patch, condition, in: transaction)
                } catch {
                    // Of several, the message has to name the one.
                    throw paths.count == 1 ? error : error.about("\(path)")
                }
            }
        }
        let records =
            isRehearsal
            ? try store.rehearse(author: .commandLine, by: author, body)
            : try store.write(author: .commandLine, by: author, body)
        return ControlReply(.members(["records": .array(records)]))
    }

    private func patch(
        _ path: RecordPath, _ patch: JSONValue, _ condition: JSONValue?,
        in transaction: Transaction
    ) throws(RecordError) -> JSONValue {
        guard case .record(let stem) = path.item else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let type = try store.type(at: path)
        guard let record = try transaction.records.record(type.id, stem), !record.isHidden else {
            throw RecordError(.notFound, "there is no such record.")
        }
        guard !record.hasDraft, let text = try transaction.records.savedText(of: record.id) else {
            throw RecordError(
                .notPermitted,
                "its file has a text that was refused. Correct it with recordfs edit, or remove it "
                    + "with recordfs draft discard.")
        }
        let schema = try transaction.schema(of: type.name)
        let old = try transaction.records.parse(text, of: type.name)
        if let condition, let name = try old.firstMember(unlike: condition, schema: schema) {
            throw RecordError(
                .stale, "\"\(schema.shownName(of: name))\" has another value; nothing is changed.")
        }
        let new = try old.patched(patch, schema: schema)
        let result = try transaction.records.save(
            text: new, type: type.id, stem: stem, keptFiles: .all(but: []))
        let changed = old.changedMembers(
            to: try transaction.records.parse(new, of: type.name))
        return .members([
            "path": .text(path.bytes), "outcome": .text(result.outcome.name),
            "fields": .array(changed.map { .name(schema.shownName(of: $0)) }),
        ])
    }

    // MARK: Texts

    private func amend(
        _ path: RecordPath, _ text: [UInt8], since: [UInt8]
    ) throws(RecordError) -> ControlReply {
        guard case .record(let stem) = path.item else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let result = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> SaveResult in
            let type = try transaction.makeType(at: path)
            var text = text
            if let record = try transaction.records.record(type.id, stem), !record.isHidden,
                let now = try transaction.records.savedText(of: record.id), now != since
            {
                text = try transaction.amended(now, by: text, since: since, of: type.name)
            }
            return try transaction.records.save(
                text: text, type: type.id, stem: stem, keptFiles: .all(but: []))
        }
        return ControlReply(.members(["outcome": .text(result.outcome.name)]))
    }

    private func check(_ path: RecordPath, _ text: [UInt8]) throws(RecordError) -> ControlReply {
        guard case .record(let stem) = path.item else {
            throw RecordError(
                .invalidArgument, "is not a record. Write DATABASE/ZONE/TYPE/NAME.")
        }
        let new = try store.rehearse(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> [JSONValue] in
            let type = try transaction.makeType(at: path)
            let schema = try transaction.schema(of: type.name)
            let document = try transaction.records.parse(text, of: type.name)
            _ = try transaction.records.save(
                text: text, type: type.id, stem: stem, keptFiles: .all(but: []))
            return document.newMembers(to: schema)
        }
        return ControlReply(.members(["new": .array(new)]))
    }
}

extension Transaction {
    /// Returns the text of a record as it is now with the changes of a text that was made from an
    /// earlier one.
    ///
    /// - Throws: stale when both have changed a member; the errors of the parser about the text.
    fileprivate func amended(
        _ now: [UInt8], by text: [UInt8], since: [UInt8], of type: RecordTypeName
    ) throws(RecordError) -> [UInt8] {
        let local = try records.parse(text, of: type)
        let remote = try records.parse(now, of: type)
        let base = try records.parse(since, of: type)
        let (merged, conflicts) = try merging.merge(
            local, with: remote.fields, parent: remote.parent, since: base,
            isLater: { (_) throws(RecordError) in false },
            resolve: { (conflict) throws(RecordError) in
                conflict.mergedLines.map { .both($0) } ?? .local
            })
        guard conflicts.isEmpty else {
            let schema = try self.schema(of: type)
            let names = conflicts.map { "\"\(schema.shownName(of: $0))\"" }
            throw RecordError(
                .stale,
                "somebody has changed \(names.joined(separator: ", ")) meanwhile.")
        }
        return merged
    }
}

extension RecordSchema {
    /// Returns the name that texts have for a field.
    fileprivate func shownName(of field: FieldName) -> FieldName {
        mapping?.name(of: field) ?? field
    }
}

extension RecordDocument {
    /// Returns the fields that another text gives other values, with the parent and lists.
    fileprivate func changedMembers(to new: RecordDocument) -> [FieldName] {
        var names = FieldMerge.changedFields(from: fields, to: new.fields)
        for name in Set(lists.keys).union(new.lists.keys).sorted()
        where Set(lists[name] ?? []) != Set(new.lists[name] ?? []) {
            names.append(name)
        }
        return parent == new.parent ? names : names + [.parent]
    }

    /// Returns the members whose fields a type does not have yet, each with the field that may be
    /// meant.
    fileprivate func newMembers(to schema: RecordSchema) -> [JSONValue] {
        guard schema.mapping == nil, !schema.fields.isEmpty else { return [] }
        let known = schema.fields.map { "\($0.name)" }
        return fields.map(\.name).filter { schema[$0] == nil }.map { name in
            .members([
                "name": .name(name),
                "guess": Spelling.guess("\(name)", among: known).map { .text($0) },
            ])
        }
    }
}

extension RecordError {
    fileprivate func about(_ subject: String) -> RecordError {
        RecordError(code, "\(subject): \(self)", errno: systemErrno)
    }
}
