import RecordModel
import RecordSQL

/// The lines of a long text that this machine's user has written, as far as the record's history
/// shows.
extension RecordMerging {
    /// The largest number of versions that are searched.
    private static let versionsOfLines = 50

    private struct VersionLines {
        let token: Int64
        /// True when the version was made here and its field has a different text from the version
        /// before.
        let isOwn: Bool
        let lines: Set<ArraySlice<UInt8>>
    }

    /// Returns whether one value of a field has lines of this user that another value does not
    /// have.
    func hasOwnLines(
        of field: FieldName, _ name: RecordName, _ zone: ZoneID, in value: FieldValue?,
        goneFrom other: FieldValue?
    ) throws(RecordError) -> Bool {
        let gone = (value?.lines ?? []).subtracting(other?.lines ?? [])
        guard !gone.isEmpty else { return false }
        var (last, later) = (Int64.max, VersionLines?.none)
        for _ in 0..<Self.versionsOfLines {
            let version = try versionLines(of: field, name, zone, before: last)
            if let later, later.isOwn {
                let own = later.lines.subtracting(version?.lines ?? [])
                if !own.isDisjoint(with: gone) { return true }
            }
            guard let version else { return false }
            (last, later) = (version.token, version)
        }
        return false
    }

    private func versionLines(
        of field: FieldName, _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionLines? {
        let row = try transaction.connection.first(
            """
            SELECT token, author, fields, type, text, checksum FROM history
            WHERE zone_id = ? AND name = ? AND token < ? ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name), .integer(token)]
        ) { row in
            (
                token: row.int64(0), author: row.string(1),
                fields: FieldNameList.decode(row.bytes(2)),
                type: RecordTypeName(bytes: row.bytes(3)), text: row.wholeText(4)
            )
        }
        guard let row else { return nil }
        let isOwn = row.author != Author.sync.rawValue && row.fields.contains(field)
        var lines: Set<ArraySlice<UInt8>> = []
        do throws(RecordError) {
            // A version of a record's deletion has no text.
            if let text = row.text, !text.isEmpty {
                lines =
                    try transaction.outbox.document(text, ofVersion: row.token, row.type)[field]?
                    .lines ?? []
            }
        } catch  where error.isAboutContent {
            // A version that is damaged, or no longer a record of its type, gives no lines.
        }
        return VersionLines(token: row.token, isOwn: isOwn, lines: lines)
    }
}

extension FieldValue {
    /// The lines of a text that has several.
    fileprivate var lines: Set<ArraySlice<UInt8>> {
        let newline = UInt8(ascii: "\n")
        guard case .string(let text) = self, text.utf8.contains(newline) else { return [] }
        return Set(Array(text.utf8).split(separator: newline))
    }
}
