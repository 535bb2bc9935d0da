import RecordModel
import RecordSQL
import Synchronization

/// The hybrid logical clock of a store, with the number that stands for it in stamps.
struct EditClock {
    var clock: HybridClock
    let device: UInt64
}

/// Who changed a field last, and when.
struct FieldEdit {
    let stamp: FieldStamp
    let author: Author
    /// Whether it was given its value when its record was made: that goes to the server without a stamp.
    var isOfCreation = false
    /// Whether the stamp is the edit's own, and not that of the moment when the edit came here.
    var isExact: Bool
}

extension Transaction {
    func stampTimeOfEdits() throws(RecordError) -> Int64 {
        if let stampTime { return stampTime }
        let now = now
        let time = try withEditClock { $0.clock.tick(now) }
        stampTime = time
        return time
    }

    /// What the server tells is not earlier than its stamps say, however far they are ahead.
    func stampOfChange() throws(RecordError) -> Int64 {
        max(try stampTimeOfEdits(), author == .sync ? toldTime : 0)
    }

    /// What is edited here from now on is later than what was heard.
    func hear(_ stamps: some Sequence<FieldStamp>) throws(RecordError) {
        guard let latest = stamps.max() else { return }
        let now = now
        try withEditClock { $0.clock.hear(latest, now) }
        if let stampTime, stampTime <= latest.time { self.stampTime = nil }
    }

    private func withEditClock<T: Sendable>(
        _ body: (inout EditClock) -> T
    ) throws(RecordError) -> T {
        // Only the writer's queue comes here.
        var clock: EditClock
        if let known = store.editClock.withLock({ $0 }) {
            clock = known
        } else {
            clock = try connection.editClock(device: store.options.device)
        }
        defer { store.editClock.withLock { $0 = clock } }
        return body(&clock)
    }

    /// Says when the edit of a version was made, and by whom, where that is not how it came about.
    func setStamp(
        _ time: Int64, of version: Int64, by author: Author? = nil
    ) throws(RecordError) {
        try connection.run(
            "UPDATE history SET stamp = ?, author = COALESCE(?, author) WHERE token = ?",
            [.integer(time), .optional(author?.rawValue), .integer(version)])
    }

    /// This user's edits of fields that have other values than the server has acknowledged.
    ///
    /// - Parameters:
    ///   - name: of the record in which they were made; `zone`: its zone.
    func unsentEdits(
        of fields: [RecordField], since base: RecordDocument?, _ name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> [FieldName: FieldEdit] {
        let changed = FieldMerge.changedFields(from: base?.fields ?? [], to: fields)
        return try lastEdits(of: changed, name, zone).filter { $0.value.author != .sync }
    }

    /// A stamp for what is made here now.
    func newStamp() throws(RecordError) -> FieldStamp {
        let time = try stampTimeOfEdits()
        return FieldStamp(time: time, device: try withEditClock { $0.device })
    }

    /// The last changes of some fields of a record that is there; of a field that none is known of,
    /// nothing.
    ///
    /// A record that somebody has written anew, after it was deleted, keeps the edits of fields that have
    /// the values of before: who writes a text back that he read earlier has not edited all of it.
    func lastEdits(
        of fields: some Sequence<FieldName>, _ name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> [FieldName: FieldEdit] {
        var missing = Set(fields)
        guard !missing.isEmpty else { return [:] }
        var edits: [FieldName: FieldEdit] = [:]
        let device = try withEditClock { $0.device }
        let heard = try heardStamps(of: name, zone).stamps
        var last = Int64.max
        while !missing.isEmpty,
            let version = try connection.versionFields(name, zone, before: last)
        {
            let begins = version.kind == .created || version.kind == .restored
            // Nothing of what was before it made the record anew, but for what is as it was.
            let kept = begins ? try unchanged(missing, in: version, of: name, zone) : []
            for field in begins ? missing.subtracting(kept).sorted() : version.fields
            where missing.remove(field) != nil {
                edits[field] = version.edit(by: device, heard[field], isOfCreation: begins)
            }
            last = version.token
        }
        return edits
    }

    /// Those of the fields of a record that was made anew here that have the values of its last version
    /// before.
    private func unchanged(
        _ fields: Set<FieldName>, in version: VersionFields, of name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> Set<FieldName> {
        guard version.generation > 1, version.author != .sync,
            let new = try readable(connection.versionText(version.token)),
            let old = try readable(connection.versionText(name, zone, before: version.token))
        else { return [] }
        return fields.filter { new[$0] != nil && FieldMerge.isSame(new[$0], old[$0]) }
    }

    /// Nil for a version that is damaged, or no record of its type any more.
    func readable(_ version: VersionText?) throws(RecordError) -> RecordDocument? {
        guard let version, let text = version.text else { return nil }
        do throws(RecordError) {
            return try document(text, ofVersion: version.token, version.type)
        } catch  where error.isAboutContent {
            return nil
        }
    }
}

struct VersionText {
    let token: Int64
    let type: RecordTypeName
    let text: [UInt8]?
}

struct VersionFields {
    let token: Int64
    let at: Timestamp
    /// That of its stamp.
    let time: Int64
    let author: Author
    let kind: ChangeKind
    let fields: [FieldName]
    let generation: Int64

    /// - Parameter heard: under which the server has told of the field, or it has won.
    func edit(by device: UInt64, _ heard: FieldStamp?, isOfCreation: Bool) -> FieldEdit {
        guard author == .sync else {
            let stamp = FieldStamp(time: time, device: device).over(heard?.losers ?? [])
            return FieldEdit(
                stamp: stamp, author: author, isOfCreation: isOfCreation, isExact: true)
        }
        return FieldEdit(
            stamp: heard ?? FieldStamp(time: time, device: device), author: author,
            isExact: heard != nil)
    }
}

extension SQLConnection {
    fileprivate func editClock(device: UInt64?) throws(RecordError) -> EditClock {
        let last = try first("SELECT stamp FROM history ORDER BY token DESC LIMIT 1") {
            $0.int64IfPresent(0)
        }
        let own = try first("SELECT value FROM meta WHERE key = 'device'") { $0.int64(0) }
        return EditClock(
            clock: HybridClock(last: (last ?? nil) ?? 0),
            device: device ?? UInt64(bitPattern: own ?? 0))
    }

    /// The last version of a name before one. Not several at a time: the stamp stands behind the text,
    /// and the newest is mostly enough.
    func versionFields(
        _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionFields? {
        try first(
            """
            SELECT token, stamp, at, author, kind, fields, generation FROM history
            WHERE zone_id = ? AND name = ? AND token < ? ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name), .integer(token)]
        ) { row in
            VersionFields(
                token: row.int64(0), at: row.time(2),
                time: row.int64IfPresent(1) ?? FieldStamp(at: row.time(2)).time,
                author: Author(rawValue: row.string(3)) ?? .sync,
                kind: ChangeKind(rawValue: row.string(4)) ?? .updated,
                fields: FieldNameList.decode(row.bytes(5)), generation: row.int64(6))
        }
    }

    func versionText(_ token: Int64) throws(RecordError) -> VersionText? {
        try first(
            "SELECT token, type, text, checksum FROM history WHERE token = ?", [.integer(token)]
        ) { $0.versionText() }
    }

    /// The last version before one that has a text: that of a record's end has none.
    fileprivate func versionText(
        _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionText? {
        try first(
            """
            SELECT token, type, text, checksum FROM history
            WHERE zone_id = ? AND name = ? AND token < ? AND kind != '\(ChangeKind.deleted.rawValue)'
            ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name), .integer(token)]
        ) { $0.versionText() }
    }
}

extension SQLStatement {
    fileprivate func versionText() -> VersionText {
        VersionText(
            token: int64(0), type: RecordTypeName(bytes: bytes(1)), text: wholeText(2))
    }
}
