package import RecordModel
import RecordSQL
import Synchronization

/// The last change of a field: its time and its author.
package struct FieldEdit {
    package let stamp: FieldStamp
    package let author: Author
    /// Indicates whether the field got its value when its record was made. Such a value is sent to
    /// the server without a stamp.
    package var isOfCreation = false
    /// Indicates whether the stamp belongs to the edit itself. Otherwise it is the time at which
    /// the edit arrived here.
    package var isExact: Bool
}

extension RecordMerging {
    func stampTimeOfEdits() throws(RecordError) -> Int64 {
        if let stampTime = transaction.stampTime { return stampTime }
        let now = transaction.now
        let time = try withEditClock { $0.clock.tick(now) }
        try keepEditClock()
        transaction.stampTime = time
        return time
    }

    /// Returns the stamp time of a change. A change that the server reports is not earlier than its
    /// stamps, however far they are ahead.
    func stampOfChange() throws(RecordError) -> Int64 {
        max(try stampTimeOfEdits(), transaction.author == .sync ? transaction.toldTime : 0)
    }

    /// Moves the clock forward, so that later edits on this machine are later than the received
    /// stamps.
    package func hear(_ stamps: some Sequence<FieldStamp>) throws(RecordError) {
        guard let latest = stamps.max() else { return }
        let now = transaction.now
        try withEditClock { $0.clock.hear(latest, now) }
        try keepEditClock()
        if let stampTime = transaction.stampTime, stampTime <= latest.time {
            transaction.stampTime = nil
        }
    }

    /// Keeps the time of a clock that is ahead of the machine's, for the next start. Any other clock
    /// begins with the machine's time.
    private func keepEditClock() throws(RecordError) {
        let clock = try withEditClock { $0.clock }
        guard clock.isAhead(of: transaction.now) else { return }
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta VALUES ('editClock', ?)", [.integer(clock.last)])
    }

    private func withEditClock<T: Sendable>(
        _ body: (inout EditClock) -> T
    ) throws(RecordError) -> T {
        // Only the writer's queue calls this.
        var clock: EditClock
        if let known = transaction.store.editClock.withLock({ $0 }) {
            clock = known
        } else {
            clock = try transaction.connection.sync.editClock(
                device: transaction.store.options.device, now: transaction.now)
        }
        defer { transaction.store.editClock.withLock { $0 = clock } }
        return body(&clock)
    }

    /// Sets the time and the author of the edit in a version, where they differ from those of the
    /// version's making.
    package func setStamp(
        _ time: Int64, of version: Int64, by author: Author? = nil
    ) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE history SET stamp = ?, author = COALESCE(?, author) WHERE token = ?",
            [.integer(time), .optional(author?.rawValue), .integer(version)])
    }

    /// Returns this user's edits of fields whose values differ from those that the server has
    /// acknowledged.
    ///
    /// - Parameters:
    ///   - name: the name of the record in which they were made; `zone`: its zone.
    package func unsentEdits(
        of fields: [RecordField], since base: RecordDocument?, _ name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> [FieldName: FieldEdit] {
        let changed = FieldMerge.changedFields(from: base?.fields ?? [], to: fields)
        return try lastEdits(of: changed, name, zone).filter { $0.value.author != .sync }
    }

    /// Returns a stamp for an edit that is made here now.
    package func newStamp() throws(RecordError) -> FieldStamp {
        let time = try stampTimeOfEdits()
        return FieldStamp(time: time, device: try withEditClock { $0.device })
    }

    /// Returns the last changes of some fields of an existing record. The result leaves out fields
    /// without a known change.
    ///
    /// When somebody has written a record again after its deletion, fields with their former values
    /// keep their edits. A user who writes back a text that they read earlier has not edited all of
    /// it.
    package func lastEdits(
        of fields: some Sequence<FieldName>, _ name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> [FieldName: FieldEdit] {
        var missing = Set(fields)
        guard !missing.isEmpty else { return [:] }
        var edits: [FieldName: FieldEdit] = [:]
        let device = try withEditClock { $0.device }
        let heard = try heardStamps(of: name, zone).stamps
        var last = Int64.max
        while !missing.isEmpty,
            let version = try transaction.connection.sync.versionFields(name, zone, before: last)
        {
            let begins = version.kind == .created || version.kind == .restored
            // Nothing before it made the record again, so only fields with unchanged values
            // continue.
            let kept = begins ? try unchanged(missing, in: version, of: name, zone) : []
            for field in begins ? missing.subtracting(kept).sorted() : version.fields
            where missing.remove(field) != nil {
                edits[field] = version.edit(by: device, heard[field], isOfCreation: begins)
            }
            last = version.token
        }
        return edits
    }

    /// Returns the fields of a record that was made again here whose values are those of its last
    /// version before.
    private func unchanged(
        _ fields: Set<FieldName>, in version: VersionFields, of name: RecordName, _ zone: ZoneID
    ) throws(RecordError) -> Set<FieldName> {
        guard version.generation > 1, version.author != .sync,
            let new = try readable(transaction.connection.sync.versionText(version.token)),
            let old = try readable(
                transaction.connection.sync.versionText(name, zone, before: version.token))
        else { return [] }
        return fields.filter { new[$0] != nil && FieldMerge.isSame(new[$0], old[$0]) }
    }

    /// Parses a version. Returns nil for a version that is damaged, or is no longer a record of its
    /// type.
    func readable(_ version: VersionText?) throws(RecordError) -> RecordDocument? {
        guard let version, let text = version.text else { return nil }
        do throws(RecordError) {
            return try transaction.outbox.document(text, ofVersion: version.token, version.type)
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
    /// The time of its stamp.
    let time: Int64
    package let author: Author
    let kind: ChangeKind
    let fields: [FieldName]
    let generation: Int64

    /// Returns the edit of a field in this version.
    ///
    /// - Parameter heard: the stamp under which the server has reported the field, or under which
    ///   the field has won.
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

extension SyncRows {
    fileprivate func editClock(
        device: UInt64?, now: Timestamp
    ) throws(RecordError) -> EditClock {
        let last = try connection.first("SELECT stamp FROM history ORDER BY token DESC LIMIT 1") {
            $0.int64IfPresent(0)
        }
        let own = try connection.first("SELECT value FROM meta WHERE key = 'device'") {
            $0.int64(0)
        }
        let ahead = try connection.first("SELECT value FROM meta WHERE key = 'editClock'") {
            $0.int64(0)
        }
        // The last version may have a stamp from a clock that is days ahead.
        var clock = HybridClock(last: 0)
        for time in [last ?? nil, ahead].compactMap(\.self) {
            clock.hear(FieldStamp(time: time, device: 0), now)
        }
        return EditClock(clock: clock, device: device ?? UInt64(bitPattern: own ?? 0))
    }

    /// Returns the last version of a name before another one. It does not read several versions at
    /// a time: the stamp is stored after the text, and the newest version is mostly enough.
    func versionFields(
        _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionFields? {
        try connection.first(
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
        try connection.first(
            "SELECT token, type, text, checksum FROM history WHERE token = ?", [.integer(token)]
        ) { $0.versionText() }
    }

    /// Returns the last version with a text before another version. The version of a record's
    /// deletion has no text.
    fileprivate func versionText(
        _ name: RecordName, _ zone: ZoneID, before token: Int64
    ) throws(RecordError) -> VersionText? {
        try connection.first(
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
