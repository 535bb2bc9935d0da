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
        let stem = try path.requireRecord()
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
                .stale,
                "\(quoted([name], in: type.name)) has another value; nothing is changed.")
        }
        let new = try old.patched(patch, schema: schema)
        let result = try transaction.records.save(
            text: new, type: type.id, stem: stem, keptFiles: .all(but: []))
        let changed = try transaction.records.parse(new, of: type.name).changedMembers(from: old)
        return .members([
            "path": .text(path.bytes), "outcome": .text(result.outcome.name),
            "fields": .array(
                store.model.shownNames(of: changed, in: type.name).map { .name($0) }),
        ])
    }

    /// Returns the names that texts have for fields, for a message.
    private func quoted(_ fields: [FieldName], in type: RecordTypeName) -> String {
        store.model.shownNames(of: fields, in: type).map { "\"\($0)\"" }
            .joined(separator: ", ")
    }

    // MARK: Texts

    private func amend(
        _ path: RecordPath, _ text: [UInt8], since: [UInt8]
    ) throws(RecordError) -> ControlReply {
        let stem = try path.requireRecord()
        let result = try store.write(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> SaveResult in
            let type = try transaction.makeType(at: path)
            var text = text
            if let record = try transaction.records.record(type.id, stem), !record.isHidden,
                let now = try transaction.records.savedText(of: record.id), now != since
            {
                text = try amended(now, by: text, since: since, of: type.name, in: transaction)
            }
            return try transaction.records.save(
                text: text, type: type.id, stem: stem, keptFiles: .all(but: []))
        }
        return ControlReply(.members(["outcome": .text(result.outcome.name)]))
    }

    private func check(_ path: RecordPath, _ text: [UInt8]) throws(RecordError) -> ControlReply {
        let stem = try path.requireRecord()
        let warnings = try store.rehearse(author: .commandLine, by: author) {
            (transaction) throws(RecordError) -> [RecordError] in
            let type = try transaction.makeType(at: path)
            let schema = try transaction.schema(of: type.name)
            let document = try transaction.records.parse(text, of: type.name)
            _ = try transaction.records.save(
                text: text, type: type.id, stem: stem, keptFiles: .all(but: []))
            return document.warnings(for: schema)
        }
        return ControlReply(.members(["warnings": .array(warnings.map(\.json))]))
    }

    /// Returns the text of a record as it is now with the changes of a text that was made from an
    /// earlier one.
    ///
    /// - Throws: stale when both have changed a member; the errors of the parser about the text.
    private func amended(
        _ now: [UInt8], by text: [UInt8], since: [UInt8], of type: RecordTypeName,
        in transaction: Transaction
    ) throws(RecordError) -> [UInt8] {
        let local = try transaction.records.parse(text, of: type)
        let remote = try transaction.records.parse(now, of: type)
        let base = try transaction.records.parse(since, of: type)
        let (merged, conflicts) = try transaction.merging.merge(
            local, with: remote.fields, parent: remote.parent, since: base,
            isLater: { (_) throws(RecordError) in false },
            resolve: { (conflict) throws(RecordError) in
                conflict.mergedLines.map { .both($0) } ?? .local
            })
        guard conflicts.isEmpty else {
            throw RecordError(
                .stale, "somebody has changed \(quoted(conflicts, in: type)) meanwhile.")
        }
        return merged
    }
}

extension RecordDocument {
    /// Returns the names of the fields, of the parent and of the lists that differ.
    fileprivate func changedMembers(from old: RecordDocument) -> [FieldName] {
        let names = Set(lists.keys).union(old.lists.keys).sorted()
        return changedFields(from: old)
            + names.filter { Set(lists[$0] ?? []) != Set(old.lists[$0] ?? []) }
    }

    /// Returns a warning for each member whose field a type does not have yet, and that may be meant
    /// to be one that it has.
    fileprivate func warnings(for schema: RecordSchema) -> [RecordError] {
        guard schema.mapping == nil else { return [] }
        let known = schema.fields.map { "\($0.name)" }
        return fields.map(\.name).filter { schema[$0] == nil }.compactMap { name in
            Spelling.guess("\(name)", among: known).map { guess in
                RecordError(
                    .schemaMismatch,
                    "\"\(name)\" is new to the record type; did you mean \"\(guess)\"?",
                    at: position(ofKey: name))
            }
        }
    }
}

extension RecordError {
    fileprivate func about(_ subject: String) -> RecordError {
        RecordError(code, "\(subject): \(self)", errno: systemErrno)
    }
}
