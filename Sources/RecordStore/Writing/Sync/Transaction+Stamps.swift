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

    /// The last changes of some fields of a record that is there; of a field that none is known of,
    /// nothing.
    func lastEdits(
        of fields: some Sequence<FieldName>, _ name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> [FieldName: FieldEdit] {
        var missing = Set(fields)
        var edits: [FieldName: FieldEdit] = [:]
        let device = try withEditClock { $0.device }
        var last = Int64.max
        while !missing.isEmpty,
            let version = try connection.versionFields(name, zone, before: last)
        {
            let edit = FieldEdit(
                stamp: FieldStamp(time: version.time, device: device), author: version.author)
            // Nothing of what was before it made the record anew.
            let begins = version.kind == .created || version.kind == .restored
            for field in begins ? Array(missing) : version.fields
            where missing.remove(field) != nil {
                edits[field] = edit
            }
            last = version.token
        }
        return edits
    }
}

private struct VersionFields {
    let token: Int64
    let time: Int64
    let author: Author
    let kind: ChangeKind
    let fields: [FieldName]
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
    fileprivate func versionFields(
        _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionFields? {
        try first(
            """
            SELECT token, stamp, at, author, kind, fields FROM history
            WHERE zone_id = ? AND name = ? AND token < ? ORDER BY token DESC LIMIT 1
            """, [.integer(zone.rawValue), .name(name), .integer(token)]
        ) { row in
            VersionFields(
                token: row.int64(0),
                time: row.int64IfPresent(1) ?? FieldStamp(at: row.time(2)).time,
                author: Author(rawValue: row.string(3)) ?? .sync,
                kind: ChangeKind(rawValue: row.string(4)) ?? .updated,
                fields: FieldNameList.decode(row.bytes(5)))
        }
    }
}
