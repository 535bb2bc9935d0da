package import RecordModel
import RecordSQL
import Synchronization

extension StoreUpkeep {
    /// The number of names that one step examines. The mount can save between two steps.
    private static let sliceSize: Int64 = 200
    /// The number of pages that one step returns to the file system.
    private static let vacuumPages: Int64 = 1000

    /// Does one step of the work that keeps the store small: examines the next old versions,
    /// removes those that nobody can want any more, and returns free pages to the file system.
    /// Returns true when more work is left for now.
    package func keepSmall() throws(RecordError) -> Bool {
        guard store.isWritable else { return false }
        removeUnusedMirror()
        let hasMore = try purgeNextVersions()
        return try vacuumSlice() || hasMore
    }

    /// Removes everything that is older than its retention, and returns the space, at once.
    ///
    /// - Parameter isRehearsal: only counts, and changes nothing.
    package func collectGarbage(isRehearsal: Bool) throws(RecordError) -> CollectedGarbage {
        var result = CollectedGarbage()
        result.bytesBefore = try databaseBytes()
        result.bytesAfter = result.bytesBefore
        try watchClock()
        if isRehearsal {
            result.deletedRecords = try oldTrash()
            result.versions = try oldVersions { (_) throws(RecordError) in }
            result.readers = try versionsOfReaders()
            return result
        }
        while try store.index.keepIndexes() {}
        if try isSearched() { while try store.index.indexNextWords() {} }
        result.deletedRecords = try purgeTrash()
        result.versions = try oldVersions { (names) throws(RecordError) in
            _ = try self.purgeVersions(of: names)
        }
        result.readers = try versionsOfReaders()
        result.assetFiles = try store.assets.collectAssets()
        try vacuum()
        result.bytesAfter = try databaseBytes()
        return result
    }

    private func isSearched() throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM meta WHERE key = 'searchToken' AND value > 0")
        }
    }

    private func databaseBytes() throws(RecordError) -> Int64 {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ) { $0.int64(0) } ?? 0
        }
    }

    private func oldTrash() throws(RecordError) -> Int {
        let age = store.options.retention.trashAge
        guard clockIsSteady(for: age) else { return 0 }
        return try store.read { connection throws(RecordError) in
            Int(
                clamping: try connection.first(
                    "SELECT COUNT(*) FROM trash WHERE \(Self.isOldTrash)",
                    Self.ends(of: age, at: store.options.clock.now)
                ) { $0.int64(0) } ?? 0)
        }
    }

    // MARK: Versions

    /// Returns the readers of the history, each with the old versions that would be removed if it
    /// had read them.
    package func versionsOfReaders() throws(RecordError) -> [HeldVersions] {
        var held = try store.past.readers().map { HeldVersions(reader: $0) }
        let first = held.filter { !$0.reader.isExpired }.map(\.reader.token).min()
        guard let first else { return held }
        var counted: Set<VersionedName> = []
        var at: Int64? = first
        while let start = at {
            let (names, last) = try oldNames(after: start)
            for name in names where counted.insert(name).inserted {
                let versions = try store.read { connection throws(RecordError) in
                    try connection.unneeded(name, store)
                }
                for index in held.indices where !held[index].reader.isExpired {
                    for version in versions where version.token > held[index].reader.token {
                        held[index].versions += 1
                        held[index].bytes += version.bytes
                    }
                }
            }
            at = last
        }
        return held
    }

    private func purgeNextVersions() throws(RecordError) -> Bool {
        let uptime = store.options.clock.uptime
        let start = store.retentionWalk.withLock { walk -> Int64? in
            if let next = walk.next, uptime < next { return nil }
            walk.next = nil
            return walk.token
        }
        guard let start, clockIsSteady(for: store.options.retention.versionAge) else {
            return false
        }
        // The index of words of a store that is searched now and then has to be updated, because
        // versions wait for it.
        if start == 0, try isSearched() {
            store.wantedIndexes.withLock { $0.isSearchWanted = true }
        }
        let (names, last) = try oldNames(after: start)
        if !names.isEmpty { _ = try purgeVersions(of: names) }
        store.retentionWalk.withLock { walk in
            if let last {
                walk.token = last
            } else {
                walk = RetentionWalk(token: 0, next: uptime + RetentionWalk.rest)
            }
        }
        return last != nil
    }

    /// Examines all old versions. Returns the number that can be removed.
    private func oldVersions(
        _ each: ([VersionedName]) throws(RecordError) -> Void
    ) throws(RecordError) -> Int {
        guard clockIsSteady(for: store.options.retention.versionAge) else { return 0 }
        var counted: Set<VersionedName> = []
        var count = 0
        var at: Int64? = 0
        while let start = at {
            let (names, last) = try oldNames(after: start)
            let new = names.filter { counted.insert($0).inserted }
            count += try store.read { connection throws(RecordError) in
                let held = try connection.heldToken(store)
                var count = 0
                for name in new {
                    count += try connection.dispensable(name, readTo: held, store).count
                }
                return count
            }
            if !new.isEmpty { try each(new) }
            at = last
        }
        return count
    }

    /// Returns the names of the next old versions of history, and the token of the last version
    /// that was examined. The token is nil at the end of the old versions.
    private func oldNames(
        after token: Int64
    ) throws(RecordError) -> (names: [VersionedName], last: Int64?) {
        let isOld = store.options.isOldVersion
        let rows = try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT token, at, zone_id, name FROM history WHERE token > ?
                ORDER BY token LIMIT ?
                """, [.integer(token), .integer(Self.sliceSize)]
            ) { row in
                (
                    token: row.int64(0), isOld: isOld(row.time(1)),
                    name: VersionedName(
                        zone: ZoneID(row.int64(2)), name: RecordName(bytes: row.bytes(3)))
                )
            }
        }
        try requireProgress(after: token, to: rows.last?.token, in: "history")
        let old = rows.filter(\.isOld)
        // Times are in the order of tokens, except where the clock was set.
        guard let last = rows.last, !old.isEmpty else { return ([], nil) }
        return (Array(Set(old.map(\.name))), last.token)
    }

    private func purgeVersions(of names: [VersionedName]) throws(RecordError) -> Int {
        // First a check without a transaction, because mostly there is nothing to do.
        let due = try store.read { connection throws(RecordError) in
            let held = try connection.heldToken(store)
            var due: [VersionedName] = []
            for name in names
            where try !connection.dispensable(name, readTo: held, store).isEmpty {
                due.append(name)
            }
            return due
        }
        guard !due.isEmpty else { return 0 }
        return try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            let held = try transaction.connection.heldToken(store)
            var count = 0
            var end: Int64 = 0
            for name in due {
                let versions = try transaction.connection.dispensable(name, readTo: held, store)
                for version in versions { try transaction.upkeep.remove(version) }
                count += versions.count
                end = max(end, versions.map(\.end).max() ?? 0)
            }
            try transaction.upkeep.noteRemoved(before: end)
            return count
        }
    }

    // MARK: Space

    /// Returns some free pages to the file system, when there are many. Returns true when there are
    /// more.
    private func vacuumSlice() throws(RecordError) -> Bool {
        guard let writer = store.writer else { return false }
        let state = try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT auto_vacuum, freelist_count, page_count
                FROM pragma_auto_vacuum, pragma_freelist_count, pragma_page_count
                """
            ) { (mode: $0.int64(0), free: $0.int64(1), pages: $0.int64(2)) }
        }
        // A few pages stay, because the next saves use them.
        guard let state, state.mode == 2, state.free > max(512, state.pages / 16) else {
            return false
        }
        try writer.use { connection throws(RecordError) in
            try connection.run("PRAGMA incremental_vacuum(\(Self.vacuumPages))")
        }
        return true
    }

    /// Returns all free pages to the file system. A store of an earlier version is rewritten once,
    /// and returns its pages by itself from then on.
    private func vacuum() throws(RecordError) {
        guard let writer = store.writer else { return }
        try writer.use { connection throws(RecordError) in
            let mode = try connection.first("PRAGMA auto_vacuum") { $0.int64(0) }
            if mode == 2 {
                try connection.run("PRAGMA incremental_vacuum")
            } else {
                try connection.run("PRAGMA auto_vacuum = INCREMENTAL")
                try connection.run("VACUUM")
            }
        }
        _ = shortenLog()
    }
}

extension StoreOptions {
    /// Returns whether a version of that time may be removed now. A time that lies in the future was
    /// noted by a clock that was wrong, as in the trash.
    fileprivate var isOldVersion: (Timestamp) -> Bool {
        let now = clock.now
        let (first, last) = (now - retention.versionAge, now + ClockWatch.jump)
        return { $0 < first || $0 > last }
    }
}

/// The record that versions belong to.
private struct VersionedName: Hashable, Sendable {
    let zone: ZoneID
    let name: RecordName
}

/// A version that nothing needs.
private struct UnneededVersion {
    let token: Int64
    /// The size of its text.
    let bytes: Int64
    /// The first moment for which it makes no difference: the next version of the record.
    let end: Int64
    let isDeletion: Bool
}

extension UpkeepWriting {
    fileprivate func remove(_ version: UnneededVersion) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM kept_asset WHERE holder = ? AND holder_id = ?",
            [.integer(RecordWriting.Holder.history.rawValue), .integer(version.token)])
        try transaction.connection.run(
            "DELETE FROM history WHERE token = ?", [.integer(version.token)])
    }
}

extension SQLConnection {
    /// Returns the versions that can be removed: those that nothing needs and that every reader has
    /// read.
    ///
    /// - Parameter held: the token up to which all readers have read (`heldToken`).
    fileprivate func dispensable(
        _ name: VersionedName, readTo held: Int64, _ store: RecordStore
    ) throws(RecordError) -> [UnneededVersion] {
        try unneeded(name, store).filter { $0.token <= held }
    }

    /// Returns the versions that nothing needs but perhaps a reader.
    ///
    /// These versions stay: all versions of a record that is in the trash or whose deletion is not
    /// sent yet; the version that is the record's state, and those that the server has or is about
    /// to get, and for a time all that was not sent; the newest version of the whole store, so that
    /// no token is used twice; the version that was shown at a named moment, or at some time within
    /// the retention; and for an existing record its last versions, and the last change of each
    /// field, because merges need its stamp.
    fileprivate func unneeded(
        _ name: VersionedName, _ store: RecordStore
    ) throws(RecordError) -> [UnneededVersion] {
        let key: [SQLValue] = [.integer(name.zone.rawValue), .name(name.name)]
        let record = try first("SELECT id FROM record WHERE zone_id = ? AND name = ?", key) {
            $0.int64(0)
        }
        if try exists("SELECT 1 FROM trash WHERE zone_id = ? AND name = ?", key) { return [] }
        if record == nil, try exists("SELECT 1 FROM outbox WHERE zone_id = ? AND name = ?", key) {
            return []
        }
        let ofServer = try versionsOfServer(name, record)
        let isUnsent = try isUnsent(name, record, store)
        let newest = try first("SELECT MAX(token) FROM history") { $0.int64(0) }
        let indexed = try indexedToken()
        let isOld = store.options.isOldVersion
        let moments = try moments().map(\.token)
        // The version after the one that is examined: until then the latter was shown.
        var next: (token: Int64, isOld: Bool)?
        var fields: Set<FieldName> = []
        // This also applies over a time when it was deleted: values that came back unchanged keep
        // their stamps. The text from before the deletion shows which values these are.
        var isBegun = false
        var wantsText = false
        var number = 0
        var versions: [UnneededVersion] = []
        // Without the deletion after it, a version that stays would never have ended.
        var lowestKept: Int64 = .max
        try each(
            """
            SELECT token, at, kind, fields, length(text) FROM history WHERE zone_id = ? AND name = ?
            ORDER BY token DESC
            """, key
        ) { row throws(RecordError) in
            let token = row.int64(0)
            number += 1
            let kind = ChangeKind(rawValue: row.string(2))
            let begins = kind == .created || kind == .restored
            let changed = FieldNameList.decode(row.bytes(3)).filter { !fields.contains($0) }
            if !begins || isBegun { fields.formUnion(changed) }
            let isLastOfField = record != nil && !changed.isEmpty
            let isTextBefore = wantsText && kind != .deleted
            if isTextBefore { wantsText = false }
            let wasShown =
                kind != .deleted
                && (next.map { !$0.isOld } ?? false
                    || moments.contains { token <= $0 && $0 < next?.token ?? .max })
            defer {
                if begins, !isBegun { (isBegun, wantsText) = (true, true) }
                next = (token, isOld(row.time(1)))
            }
            let isLast =
                record != nil
                && (number <= store.options.retention.versions || begins && !isBegun
                    || isTextBefore)
            guard isOld(row.time(1)), token <= indexed, !isLast, !isLastOfField,
                !wasShown, token != newest,
                !ofServer.contains(token), !isUnsent(token, row.time(1))
            else {
                lowestKept = token
                return
            }
            versions.append(
                UnneededVersion(
                    token: token, bytes: row.int64(4), end: next?.token ?? token,
                    isDeletion: kind == .deleted))
        }
        return versions.filter { !$0.isDeletion || $0.token < lowestKept }
    }

    /// Returns the version that is the record's state, and those that the server has or is about to
    /// get.
    private func versionsOfServer(
        _ name: VersionedName, _ record: Int64?
    ) throws(RecordError) -> Set<Int64?> {
        Set(
            try all(
                """
                SELECT version FROM base WHERE record_id = ?3
                UNION SELECT version FROM record WHERE id = ?3
                UNION SELECT sent FROM outbox WHERE zone_id = ?1 AND name = ?2
                UNION SELECT base_version FROM outbox WHERE zone_id = ?1 AND name = ?2
                """,
                [.integer(name.zone.rawValue), .name(name.name), .integer(record ?? 0)]
            ) { $0.int64IfPresent(0) })
    }

    /// Returns the token up to which all indexes know the changes: an index finds the others through
    /// the history.
    private func indexedToken() throws(RecordError) -> Int64 {
        let token = try first(
            """
            SELECT MIN(t) FROM (SELECT token AS t FROM query_index UNION ALL
                SELECT value FROM meta WHERE key = 'searchToken' AND value > 0)
            """
        ) { $0.int64IfPresent(0) }
        return (token ?? nil) ?? .max
    }

    /// Returns a function that says whether a version is a change that waits for the server, and is
    /// not so old that it is given up.
    private func isUnsent(
        _ name: VersionedName, _ record: Int64?, _ store: RecordStore
    ) throws(RecordError) -> (_ token: Int64, _ at: Timestamp) -> Bool {
        let waits = try exists(
            "SELECT 1 FROM outbox WHERE zone_id = ? AND name = ?",
            [.integer(name.zone.rawValue), .name(name.name)])
        guard waits, let record else { return { _, _ in false } }
        let acknowledged =
            try first("SELECT version FROM base WHERE record_id = ?", [.integer(record)]) {
                $0.int64IfPresent(0)
            } ?? nil
        let now = store.options.clock.now
        // A time that lies in the future was noted by a clock that was wrong.
        let times = (now - store.options.retention.unsentAge)...(now + ClockWatch.jump)
        return { token, at in token > acknowledged ?? 0 && times.contains(at) }
    }
}
