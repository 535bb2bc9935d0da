package import RecordModel
import RecordSQL

/// Column lists, each next to the code that reads it; the order in both must be the same.
package enum Columns {
    package static let zone = """
        id, database, owner, name, permission, mapping, created, modified, status_changed,
        mode_changed
        """
    /// The number of columns in `zone`.
    static let zoneCount: Int32 = 10
    /// An assignment that gives a row the time of the transaction (`Transaction.changed`), as the
    /// triggers of `ChangeTriggers` would.
    static func changed(_ parameter: String) -> String {
        """
        status_changed = CASE status_changed WHEN \(parameter) THEN \(parameter)
            ELSE max(\(parameter), status_changed + 1) END
        """
    }

    static let type = "id, zone_id, name, created, modified, status_changed"
    /// The number of columns in `type`.
    static let typeCount: Int32 = 6
    static let record = """
        id, type_id, stem, state, flags, size, modified, created, status_changed
        """
    /// The number of columns in `record`, which is the number of the first column after them.
    static let recordCount: Int32 = 9
    static let asset = """
        a.id, a.record_id, r.stem, a.field, a.idx, a.kind, a.hash, a.size, a.ext, a.downloaded,
        a.modified, a.type_id, a.status_changed, a.leaving
        """
    static let draft = """
        d.record_id, r.type_id, r.stem, d.code, d.message, d.line, d.text_column,
        d.text_offset, d.since, d.text, d.checksum
        """
    static let refusal = """
        f.record_id, r.type_id, r.stem, f.code, f.message, f.line, f.text_column, f.text_offset,
        f.since, r.flags
        """
    static let share = "name, root, permission, text, changed"
    static let version = """
        token, at, author, kind, type, name, length(text), fields, program, coalesce(batch, token),
        (SELECT origin FROM gesture g WHERE g.id = history.gesture)
        """
    /// The number of columns in `version`.
    static let versionCount: Int32 = 11
    static let history = """
        h.token, h.at, h.author, h.kind, z.database, h.zone_id, h.type, h.name, h.record_id,
        h.fields, h.text, h.checksum
        """
    static let trash = "id, zone_id, type, name, stem, deleted, author, length(text)"
    package static let outbox = """
        id, record_id, generation, operation, zone_id, type, name, first_at, last_at, batch,
        attempts, error, waits_for_asset, sent
        """

    /// Returns the same columns with the table's name in a join.
    package static func joined(_ columns: String, as table: String) -> String {
        columns.split(separator: ",")
            .map { "\(table).\($0.drop { $0.isWhitespace })" }.joined(separator: ", ")
    }
}

/// The bits of record.flags. The raw value is stored; never renumber.
enum RecordFlags {
    static let draft: Int64 = 1
    static let assets: Int64 = 2
    /// The assets of a draftOnly record are here, but its file is not.
    static let awaited: Int64 = 4
    /// The record's incarnation begins at this bit. It wraps when it is read.
    static let incarnation: Int64 = 1 << 8
}

extension SQLStatement {
    package func time(_ column: Int32) -> Timestamp { Timestamp(nanoseconds: int64(column)) }

    /// Returns the time of a change, or the time in the other column where there is none.
    func change(_ column: Int32, else other: Int32) -> Timestamp {
        let value = int64(column)
        return value == 0 ? time(other) : Timestamp(nanoseconds: value)
    }

    package func zone() -> ZoneInfo {
        ZoneInfo(
            id: ZoneID(int64(0)), database: Database(rawValue: int64(1)) ?? .local,
            owner: OwnerName(bytes: bytes(2)), name: ZoneName(bytes: bytes(3)),
            permission: ZoneInfo.Permission(rawValue: int64(4)) ?? .readOnly,
            mapping: ZoneMapping(rawValue: string(5)) ?? .plain, created: time(6),
            modified: time(7), statusChanged: change(8, else: 7),
            modeChanged: int64(9) == 0 ? Timestamp(nanoseconds: .min) : time(9))
    }

    func share() -> Share {
        Share(
            name: RecordName(bytes: bytes(0)),
            root: isNull(1) ? nil : RecordName(bytes: bytes(1)),
            permission: ZoneInfo.Permission(rawValue: int64(2)) ?? .readOnly,
            text: bytes(3), changed: time(4))
    }

    func type() -> TypeInfo {
        TypeInfo(
            id: TypeID(int64(0)), zone: ZoneID(int64(1)), name: RecordTypeName(bytes: bytes(2)),
            created: time(3), modified: time(4), statusChanged: change(5, else: 4))
    }

    func record() -> RecordEntry {
        let flags = int64(4)
        let state = RecordEntry.State(rawValue: int64(3)) ?? .saved
        return RecordEntry(
            id: RecordID(int64(0)),
            incarnation: UInt32(truncatingIfNeeded: flags / RecordFlags.incarnation)
                % RecordFile.incarnations,
            type: TypeID(int64(1)), stem: Stem(bytes: bytes(2)),
            state: state,
            hasDraft: flags & RecordFlags.draft != 0, hasAssets: flags & RecordFlags.assets != 0,
            isAwaited: state == .draftOnly && flags & RecordFlags.awaited != 0,
            size: int64(5), modified: time(6), created: time(7),
            statusChanged: change(8, else: 6))
    }

    func asset() -> AssetEntry {
        let index = int64(4)
        return AssetEntry(
            id: AssetID(int64(0)), record: RecordID(int64(1)), type: TypeID(int64(11)),
            stem: Stem(bytes: bytes(2)), field: FieldName(bytes: bytes(3)),
            index: index < 0 ? nil : Int(index),
            kind: AssetEntry.Kind(rawValue: int64(5)) ?? .file,
            hash: isNull(6) ? nil : ContentHash(hex: string(6)), size: int64(7),
            fileExtension: bytes(8), isDownloaded: bool(9), modified: time(10),
            statusChanged: change(12, else: 10), isLeaving: !isNull(13))
    }

    /// Returns the error of a draft or a refusal. Their first columns are the same.
    private func reason() -> RecordError {
        var position: TextPosition?
        if !isNull(5) {
            position = TextPosition(
                line: Int(clamping: int64(5)), column: Int(clamping: int64(6)),
                offset: Int(clamping: int64(7)))
        }
        let code = RecordError.Code(rawValue: string(3)) ?? .invalidRecord
        return RecordError(code, string(4), at: position)
    }

    func refusal() -> Refusal {
        Refusal(
            record: RecordID(int64(0)), type: TypeID(int64(1)), stem: Stem(bytes: bytes(2)),
            error: reason(), since: time(8), hasDraft: int64(9) & RecordFlags.draft != 0,
            isAwaited: int64(9) & RecordFlags.awaited != 0)
    }

    func draft() -> Draft {
        let stem = Stem(bytes: bytes(2))
        let text = wholeText(9)
        return Draft(
            record: RecordID(int64(0)), type: TypeID(int64(1)), stem: stem, text: text ?? [],
            error: text == nil
                ? .damagedText("the draft \(stem)") : reason(),
            since: time(8))
    }

    func version() -> Version {
        Version(
            token: int64(0), at: time(1), author: Author(rawValue: string(2)) ?? .sync,
            kind: ChangeKind(rawValue: string(3)) ?? .updated,
            type: RecordTypeName(bytes: bytes(4)), name: RecordName(bytes: bytes(5)),
            size: int64(6), fields: FieldNameList.decode(bytes(7)),
            program: isNull(8) ? nil : AuthorName(stored: string(8)), transaction: int64(9),
            origin: isNull(10) ? nil : Author(rawValue: string(10)))
    }

    func historyRow() throws(RecordError) -> HistoryRow {
        let name = RecordName(bytes: bytes(7))
        return HistoryRow(
            token: int64(0), at: time(1), author: Author(rawValue: string(2)) ?? .sync,
            kind: ChangeKind(rawValue: string(3)) ?? .updated,
            database: Database(rawValue: int64(4)) ?? .local, zone: ZoneID(int64(5)),
            type: RecordTypeName(bytes: bytes(6)), name: name, record: RecordID(int64(8)),
            changedFields: FieldNameList.decode(bytes(9)),
            text: try text(10) { "version \(int64(0)) of \(name)" })
    }

    func trash() -> TrashEntry {
        TrashEntry(
            id: int64(0), zone: ZoneID(int64(1)), type: RecordTypeName(bytes: bytes(2)),
            name: RecordName(bytes: bytes(3)), stem: Stem(bytes: bytes(4)), deleted: time(5),
            author: Author(rawValue: string(6)) ?? .sync, size: int64(7))
    }

    /// Returns the text in a column beside the columns of `trash`.
    func trashText(_ column: Int32) throws(RecordError) -> [UInt8] {
        try text(column) { "\(Stem(bytes: bytes(4))) in the trash" }
    }

    package func outbox() -> OutboxRow {
        let batch = int64(9)
        return OutboxRow(
            id: int64(0), record: RecordID(int64(1)), generation: int64(2),
            operation: OutboxRow.Operation(rawValue: int64(3)) ?? .update, zone: ZoneID(int64(4)),
            type: RecordTypeName(bytes: bytes(5)), name: RecordName(bytes: bytes(6)),
            first: time(7), last: time(8), batch: batch == 0 ? nil : batch, attempts: int64(10),
            error: isNull(11) ? nil : string(11), waitsForAsset: bool(12), sent: int64IfPresent(13))
    }
}

/// Field names in one column, separated by newlines, which they cannot contain.
enum FieldNameList {
    static func encode(_ names: [FieldName]) -> [UInt8] {
        Array(names.map(\.bytes).joined(separator: [10]))
    }

    static func decode(_ bytes: [UInt8]) -> [FieldName] {
        bytes.split(separator: 10).map { FieldName(bytes: Array($0)) }
    }
}
