package import RecordModel

/// A conflict in words, for a person: the values that met, the value that won, and the next step.
package struct ConflictReport: Sendable {
    /// The lines, with their line ends.
    package let text: String

    /// Writes the report. Errors: corrupt.
    package init(_ conflict: Conflict, of store: RecordStore) throws(RecordError) {
        var documents: [Conflict.Side: RecordDocument] = [:]
        var sides: Set<Conflict.Side> = []
        let schema = try store.schema(of: conflict.type)
        for side in Conflict.Side.allCases {
            guard let text = try store.syncState.text(of: side, in: conflict) else { continue }
            sides.insert(side)
            documents[side] = Self.parse(text, schema)
        }
        let merged = try store.syncState.mergedText(of: conflict).flatMap { Self.parse($0, schema) }
        let (mine, theirs) = (documents[.mine], documents[.theirs])
        var lines = Self.heading(
            conflict, isRefusedDeletion: try store.syncState.isRefusedDeletion(conflict),
            isMineGone: !sides.contains(.mine), isTheirsGone: !sides.contains(.theirs))
        for field in conflict.fields {
            let winner = conflict.theirsStood.contains(field) ? "theirs" : "mine"
            lines.append("")
            lines.append("\(schema.mapping?.name(of: field) ?? field): \(winner) wins")
            lines.append("  base    \(Self.value(of: field, in: documents[.base], schema))")
            lines.append("  mine    \(Self.value(of: field, in: mine, schema))")
            lines.append("  theirs  \(Self.value(of: field, in: theirs, schema))")
            lines.append("  now     \(Self.value(of: field, in: merged, schema))")
        }
        lines += [
            "",
            "base.json is the text that both started from, mine.json the text of this machine,",
        ]
        if try store.syncState.isGone(conflict) {
            let kept = [Conflict.Side.mine, .theirs].filter(sides.contains)
                .map { "--keep \($0)" }.joined(separator: " or ")
            lines += [
                "theirs.json the text of the server. The record was removed here since then, so there is no",
                "merged.json. To leave the record removed: remove this directory.",
                "To bring the record back: recordfs conflicts resolve with \(kept)",
            ]
        } else {
            lines += [
                "theirs.json the text of the server, merged.json the record now. To keep the record: remove",
                "this directory. To change it: save merged.json, or: recordfs conflicts resolve",
            ]
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func heading(
        _ conflict: Conflict, isRefusedDeletion: Bool, isMineGone: Bool, isTheirsGone: Bool
    ) -> [String] {
        let when = ISO8601.print(milliseconds: conflict.at.milliseconds)
        let who = conflict.theirUser.isEmpty ? "" : " by \(conflict.theirUser)"
        let changed =
            conflict.theirTime.map { " at \(ISO8601.print(milliseconds: $0.milliseconds))" } ?? ""
        if isRefusedDeletion {
            return [
                "\(conflict.stem) was deleted here at \(when), and the server keeps it, for other records",
                "are its children or need it (\"$parent\", or \"$ref\" with VALIDATE): the record is back.",
                "Delete those before it, or with it: rm -r removes them in the same round.",
            ]
        }
        if isMineGone {
            return [
                "\(conflict.stem) was deleted here and edited elsewhere\(who)\(changed); the two met",
                "at \(when). The edit wins: the record is back.",
            ]
        }
        if isTheirsGone {
            return [
                "\(conflict.stem) was edited here and deleted elsewhere; the two met at \(when).",
                "The edit wins: the record stays, and is created again on the server.",
            ]
        }
        return [
            "\(conflict.stem) was edited here and elsewhere\(who)\(changed); the two met at \(when).",
            "In a field that both changed, the later value wins; all other changes are kept.",
        ]
    }

    /// Parses the text of a side. A draft that was written into a side is no record, so its values
    /// are not shown.
    private static func parse(_ text: [UInt8], _ schema: RecordSchema) -> RecordDocument? {
        do throws(RecordError) {
            return try RecordDocument(parsing: text, schema: schema, limits: .received)
        } catch {
            return nil
        }
    }

    private static let charactersShown = 200

    private static func value(
        of field: FieldName, in document: RecordDocument?, _ schema: RecordSchema
    ) -> String {
        guard let document else { return "(no record)" }
        if field == .parent {
            return document.parent.map { "\($0)" } ?? "(none)"
        }
        guard let value = document[field] else { return "(none)" }
        let bytes = RecordDocument.print(
            [RecordField(name: field, value: value)], parent: nil, schema: schema)
        let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
            .joined(separator: " ")
        return words.count > charactersShown ? words.prefix(charactersShown) + "..." : words
    }
}

extension SyncState {
    /// Returns whether nobody has edited the record that was deleted here. Then the server keeps it
    /// because of other records.
    package func isRefusedDeletion(_ conflict: Conflict) throws(RecordError) -> Bool {
        guard conflict.fields.isEmpty, try text(of: .mine, in: conflict) == nil,
            let base = try text(of: .base, in: conflict),
            let theirs = try text(of: .theirs, in: conflict)
        else { return false }
        if base == theirs { return true }
        let schema = try store.schema(of: conflict.type)
        let documents = try [base, theirs].map { (text) throws(RecordError) in
            try RecordDocument(parsing: text, schema: schema, limits: .received)
        }
        return documents[0].hasSameValues(as: documents[1])
    }
}
