package import RecordModel
import RecordSQL
import Synchronization

extension RecordStore {
    /// How many names one piece of work looks at: the saves of the mount go between two.
    private static let sliceSize: Int64 = 200
    /// Pages that one piece gives back to the file system.
    private static let vacuumPages: Int64 = 1000

    /// Does one piece of what keeps the store small: looks at the next old versions, removes those
    /// that nobody can want any more, and gives free pages back to the file system. True when there
    /// is more to do at once.
    package func keepSmall() throws(RecordError) -> Bool {
        guard isWritable else { return false }
        let hasMore = try purgeNextVersions()
        return try vacuumSlice() || hasMore
    }

    /// Removes all that has outlived its time, and gives the space back, at once.
    ///
    /// - Parameter isRehearsal: counts, and changes nothing.
    package func collectGarbage(isRehearsal: Bool) throws(RecordError) -> CollectedGarbage {
        var result = CollectedGarbage()
        result.bytesBefore = try databaseBytes()
        result.bytesAfter = result.bytesBefore
        try watchClock()
        if isRehearsal {
            result.deletedRecords = try oldTrash()
            result.versions = try oldVersions { (_) throws(RecordError) in }
            return result
        }
        while try keepIndexes() {}
        if try isSearched() { while try indexNextWords() {} }
        result.deletedRecords = try purgeTrash()
        result.versions = try oldVersions { (names) throws(RecordError) in
            _ = try self.purgeVersions(of: names)
        }
        result.assetFiles = try collectAssets()
        try vacuum()
        result.bytesAfter = try databaseBytes()
        return result
    }

    private func isSearched() throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in
            try connection.exists("SELECT 1 FROM meta WHERE key = 'searchToken' AND value > 0")
        }
    }

    private func databaseBytes() throws(RecordError) -> Int64 {
        try read { connection throws(RecordError) in
            try connection.first(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ) { $0.int64(0) } ?? 0
        }
    }

    /// Pages of the database that hold nothing.
    package func freeBytes() throws(RecordError) -> Int64 {
        try read { connection throws(RecordError) in
            try connection.first(
                "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
            ) { $0.int64(0) } ?? 0
        }
    }

    private func oldTrash() throws(RecordError) -> Int {
        let limit = options.clock.now - options.retention.trashAge
        guard clockIsSteady(for: options.retention.trashAge) else { return 0 }
        return try read { connection throws(RecordError) in
            Int(
                clamping: try connection.first(
                    "SELECT COUNT(*) FROM trash WHERE deleted <= ?", [.time(limit)]
                ) { $0.int64(0) } ?? 0)
        }
    }

    // MARK: Versions

    private func purgeNextVersions() throws(RecordError) -> Bool {
        let uptime = options.clock.uptime
        let start = retentionWalk.withLock { walk -> Int64? in
            if let next = walk.next, uptime < next { return nil }
            walk.next = nil
            return walk.token
        }
        guard let start, clockIsSteady(for: options.retention.versionAge) else { return false }
        // The index of words of a store that is searched now and then: versions wait for it.
        if start == 0, try isSearched() { wantedIndexes.withLock { $0.isSearchWanted = true } }
        let (names, last) = try oldNames(after: start)
        if !names.isEmpty { _ = try purgeVersions(of: names) }
        retentionWalk.withLock { walk in
            if let last {
                walk.token = last
            } else {
                walk = RetentionWalk(token: 0, next: uptime + RetentionWalk.rest)
            }
        }
        return last != nil
    }

    /// Walks over all old versions; gives how many can go.
    private func oldVersions(
        _ each: ([VersionedName]) throws(RecordError) -> Void
    ) throws(RecordError) -> Int {
        guard clockIsSteady(for: options.retention.versionAge) else { return 0 }
        var counted: Set<VersionedName> = []
        var count = 0
        var at: Int64? = 0
        while let start = at {
            let (names, last) = try oldNames(after: start)
            let new = names.filter { counted.insert($0).inserted }
            count += try read { connection throws(RecordError) in
                var count = 0
                for name in new { count += try connection.dispensable(name, self).count }
                return count
            }
            if !new.isEmpty { try each(new) }
            at = last
        }
        return count
    }

    /// The names of the next old versions of history, and the token of the last that was looked at;
    /// nil at the end of what is old.
    private func oldNames(
        after token: Int64
    ) throws(RecordError) -> (names: [VersionedName], last: Int64?) {
        let limit = (options.clock.now - options.retention.versionAge).nanoseconds
        let rows = try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT token, at, zone_id, name FROM history WHERE token > ?
                ORDER BY token LIMIT ?
                """, [.integer(token), .integer(Self.sliceSize)]
            ) { row in
                (
                    token: row.int64(0), isOld: row.int64(1) < limit,
                    name: VersionedName(
                        zone: ZoneID(row.int64(2)), name: RecordName(bytes: row.bytes(3)))
                )
            }
        }
        let old = rows.filter(\.isOld)
        // Times are in the order of tokens but for a clock that was set.
        guard let last = rows.last, !old.isEmpty else { return ([], nil) }
        return (Array(Set(old.map(\.name))), last.token)
    }

    private func purgeVersions(of names: [VersionedName]) throws(RecordError) -> Int {
        // A look without a transaction first: mostly there is nothing.
        let due = try read { connection throws(RecordError) in
            var due: [VersionedName] = []
            for name in names where try !connection.dispensable(name, self).isEmpty {
                due.append(name)
            }
            return due
        }
        guard !due.isEmpty else { return 0 }
        return try write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            var count = 0
            for name in due {
                let tokens = try transaction.connection.dispensable(name, self)
                for token in tokens { try transaction.removeVersion(token) }
                count += tokens.count
            }
            return count
        }
    }

    // MARK: Space

    /// Gives some free pages back to the file system, when they are many. True when more are.
    private func vacuumSlice() throws(RecordError) -> Bool {
        guard let writer else { return false }
        let state = try read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT auto_vacuum, freelist_count, page_count
                FROM pragma_auto_vacuum, pragma_freelist_count, pragma_page_count
                """
            ) { (mode: $0.int64(0), free: $0.int64(1), pages: $0.int64(2)) }
        }
        // A few stay: the next saves take them.
        guard let state, state.mode == 2, state.free > max(512, state.pages / 16) else {
            return false
        }
        try configure(writer) { connection throws(RecordError) in
            try connection.run("PRAGMA incremental_vacuum(\(Self.vacuumPages))")
        }
        return true
    }

    /// Gives all free pages back. A store of an earlier version is written anew once, and is one
    /// that gives back by itself from then on.
    private func vacuum() throws(RecordError) {
        guard let writer else { return }
        try configure(writer) { connection throws(RecordError) in
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

/// Whose versions they are.
private struct VersionedName: Hashable, Sendable {
    let zone: ZoneID
    let name: RecordName
}

extension Transaction {
    fileprivate func removeVersion(_ token: Int64) throws(RecordError) {
        try connection.run(
            "DELETE FROM kept_asset WHERE holder = ? AND holder_id = ?",
            [.integer(Holder.history.rawValue), .integer(token)])
        try connection.run("DELETE FROM history WHERE token = ?", [.integer(token)])
    }
}

extension SQLConnection {
    /// The tokens of the versions that can go.
    ///
    /// What stays: all of what is in the trash or whose deletion is not sent yet; the version that the record
    /// is, and those that the server has or is sent; the newest of the whole store, so that no token is given twice; and of a record that is there its
    /// last ones, and of each field the last change, whose stamp merges need.
    fileprivate func dispensable(
        _ name: VersionedName, _ store: RecordStore
    ) throws(RecordError) -> [Int64] {
        let key: [SQLValue] = [.integer(name.zone.rawValue), .name(name.name)]
        let record = try first("SELECT id FROM record WHERE zone_id = ? AND name = ?", key) {
            $0.int64(0)
        }
        if try exists("SELECT 1 FROM trash WHERE zone_id = ? AND name = ?", key) { return [] }
        if record == nil, try exists("SELECT 1 FROM outbox WHERE zone_id = ? AND name = ?", key) {
            return []
        }
        let ofServer = Set(
            try all(
                """
                SELECT version FROM base WHERE record_id = ?3
                UNION SELECT version FROM record WHERE id = ?3
                UNION SELECT sent FROM outbox WHERE zone_id = ?1 AND name = ?2
                UNION SELECT base_version FROM outbox WHERE zone_id = ?1 AND name = ?2
                """, key + [.integer(record ?? 0)]
            ) { $0.int64IfPresent(0) })
        let newest = try first("SELECT MAX(token) FROM history") { $0.int64(0) }
        // What an index does not know yet it finds by the history.
        let indexed =
            try first(
                """
                SELECT MIN(t) FROM (SELECT token AS t FROM query_index UNION ALL
                    SELECT value FROM meta WHERE key = 'searchToken' AND value > 0)
                """
            ) { $0.int64IfPresent(0) } ?? nil
        let limit = (store.options.clock.now - store.options.retention.versionAge).nanoseconds
        var fields: Set<FieldName> = []
        // Also over a time when it was deleted: what came back as it was keeps its stamps.
        var isBegun = false
        var number = 0
        var tokens: [Int64] = []
        try each(
            """
            SELECT token, at, kind, fields FROM history WHERE zone_id = ? AND name = ?
            ORDER BY token DESC
            """, key
        ) { row throws(RecordError) in
            let token = row.int64(0)
            number += 1
            let isLastOfField =
                record != nil
                && FieldNameList.decode(row.bytes(3)).reduce(false) {
                    fields.insert($1).inserted || $0
                }
            let kind = ChangeKind(rawValue: row.string(2))
            let begins = kind == .created || kind == .restored
            defer { if begins { isBegun = true } }
            let isLast =
                record != nil && (number <= store.options.retention.versions || begins && !isBegun)
            guard row.int64(1) < limit, token <= indexed ?? .max, !isLast, !isLastOfField,
                token != newest,
                !ofServer.contains(token)
            else { return }
            tokens.append(token)
        }
        return tokens
    }
}
