package import RecordModel
import RecordSQL

extension Transaction {
    /// Applies a page of what the server reports of a zone, and remembers the token that ends it:
    /// both, or neither. The page may come again without effect.
    ///
    /// Makes history by the transaction's author, who has to be `sync`. Drafts stay.
    /// Errors: notFound for the zone; invalidArgument for another author.
    package func applyRemote(_ page: RemotePage) throws(RecordError) -> [RemoteResult] {
        var application = try RemoteApplication(self, page.zone)
        var results: [RemoteResult] = []
        results.reserveCapacity(page.changes.count)
        for change in page.changes { results.append(try application.apply(change)) }
        try notePassedOver(of: page)
        try noteShares(of: page)
        for name in page.passedOver.compactMap(\.name) { try noteTold(name, in: page.zone) }
        if let token = page.token { try setFeedToken(token, of: .zone(page.zone)) }
        if page.isLast { results += try endFeedPass(&application) }
        return try results + takeAwayOrphans(of: results, &application)
    }

    /// Removes what is gone by a page for which the disk has no room, and at the end of a pass what that has
    /// not told of. Neither the feed nor the pass goes on: the page comes again.
    ///
    /// Errors: those of `applyRemote`.
    package func applyRemovals(of page: RemotePage) throws(RecordError) -> [RemoteResult] {
        var application = try RemoteApplication(self, page.zone)
        var results: [RemoteResult] = []
        for change in page.changes {
            if case .delete = change.operation {
                results.append(try application.apply(change))
            } else {
                try noteTold(change.name, in: page.zone)
            }
        }
        for name in page.passedOver.compactMap(\.name) { try noteTold(name, in: page.zone) }
        if page.isLast { results += try removeUntold(&application) ?? [] }
        return try results + takeAwayOrphans(of: results, &application)
    }

    /// The feed of a zone is at its beginning: what it does not tell of up to its last page, of what
    /// the server had, is gone there. One that goes on already goes on.
    package func beginFeedPass(of zone: ZoneID) throws(RecordError) {
        try connection.run(
            "INSERT OR IGNORE INTO feed_pass (zone_id) VALUES (?)", [.integer(zone.rawValue)])
    }

    /// The feed of a zone begins anew, as after its token expired.
    package func restartFeed(of zone: ZoneID) throws(RecordError) {
        let isBehind = try connection.restoredPass(of: zone) != nil
        try setFeedToken(nil, of: .zone(zone))
        // The new pass tells of those that there still are.
        try forgetShares(of: zone)
        try abandonFeedPass(of: zone)
        try beginFeedPass(of: zone)
        if isBehind { try markRestored(zone) }
    }

    /// The pass tells nothing of what is gone: the feed had something that has no name.
    package func abandonFeedPass(of zone: ZoneID) throws(RecordError) {
        try connection.run("DELETE FROM feed_pass WHERE zone_id = ?", [.integer(zone.rawValue)])
    }

    private func endFeedPass(
        _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult] {
        guard let results = try removeUntold(&application) else { return [] }
        try abandonFeedPass(of: application.zone)
        if application.isOfOthers { try eraseTracesOfGone(in: application.zone) }
        return results
    }

    /// Removes what the pass has not told of. Returns nil when there is no pass, which would have told of all.
    private func removeUntold(
        _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult]? {
        let zone = SQLValue.integer(application.zone.rawValue)
        let pass = try connection.first("SELECT pass FROM feed_pass WHERE zone_id = ?", [zone]) {
            $0.int64(0)
        }
        guard let pass else { return nil }
        let missing = try connection.all(
            """
            SELECT r.name FROM base b JOIN record r ON r.id = b.record_id
            WHERE r.zone_id = ? AND b.pass != ? ORDER BY r.id
            """, [zone, .integer(pass)]
        ) { RecordName(bytes: $0.bytes(0)) }
        var results: [RemoteResult] = []
        let isBehind = application.restoredPass != nil
        for name in missing {
            results.append(
                try isBehind
                    ? application.makeAgain(name) : application.apply(RemoteChange(deleted: name)))
        }
        return results
    }

    /// What was never sent, and hangs on what is shared no longer, can be sent to nobody: it goes as that
    /// has gone, into the trash.
    ///
    /// - Parameter results: of the page; nothing hangs on what it leaves.
    private func takeAwayOrphans(
        of results: [RemoteResult], _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult] {
        guard application.isOfOthers,
            results.contains(where: { $0.outcome == .deleted || $0.outcome == .absent })
        else { return [] }
        let zone = SQLValue.integer(application.zone.rawValue)
        guard try !connection.isSharedWhole(application.zone) else { return [] }
        var results: [RemoteResult] = []
        var isNew = true
        while isNew {
            isNew = false
            let unsent = try connection.all(
                """
                SELECT \(StoredRecord.columns) FROM record WHERE zone_id = ?1 AND name IN
                    (SELECT name FROM outbox WHERE zone_id = ?1 AND operation = 1)
                """, [zone]
            ) { StoredRecord($0) }
            for record in unsent where try isOrphan(record) {
                guard let name = record.name else { continue }
                let result = try application.apply(RemoteChange(deleted: name))
                results.append(result)
                // One that stays would be met for ever.
                if result.outcome == .deleted { isNew = true }
            }
        }
        return results
    }

    /// Whether it hangs on a record that is not here, or is one of those under another name.
    private func isOrphan(_ record: StoredRecord) throws(RecordError) -> Bool {
        if try isMadeOfGone(record) { return true }
        guard let text = try connection.savedText(of: record.id) else { return false }
        let place = try place(record.entry.type)
        guard let parent = try document(text, of: record.id, place).parent else { return false }
        return try connection.stored(named: parent, record.zone) == nil
    }

    /// What a list of the server says of records without their fields.
    /// - Returns: those that are not here, or in another state than the server's.
    package func noteTold(
        _ told: [(name: RecordName, changeTag: String)], in zone: ZoneID
    ) throws(RecordError) -> [RecordName] {
        var different: [RecordName] = []
        for (name, tag) in told {
            guard let record = try connection.stored(named: name, zone),
                try connection.baseTag(of: record.id)?.tag == tag
            else {
                different.append(name)
                continue
            }
            try noteTold(record.id)
        }
        return different
    }

    /// The server was asked for a record of that name.
    package func noteTold(_ name: RecordName, in zone: ZoneID) throws(RecordError) {
        if let record = try connection.stored(named: name, zone) { try noteTold(record.id) }
    }

    /// Applies one change, as the page that has it would.
    package func applyRemote(
        _ change: RemoteChange, in zone: ZoneID
    ) throws(RecordError) -> RemoteResult {
        var application = try RemoteApplication(self, zone)
        return try application.apply(change)
    }

    /// All of a feed is known up to another place, unless it is known from another one than that by now.
    package func advanceFeed(
        _ feed: Feed, from known: [UInt8], to token: [UInt8]
    ) throws(RecordError) {
        try connection.run(
            "UPDATE feed_token SET token = ? WHERE database = ? AND zone_id = ? AND token = ?",
            [
                .blob(token), .integer(feed.database), .integer(feed.zone), .blob(known),
            ])
    }

    /// Up to where a feed was applied. Nil begins it anew, as after an expired token.
    package func setFeedToken(_ token: [UInt8]?, of feed: Feed) throws(RecordError) {
        let key: [SQLValue] = [.integer(feed.database), .integer(feed.zone)]
        guard let token else {
            return try connection.run(
                "DELETE FROM feed_token WHERE database = ? AND zone_id = ?", key)
        }
        try connection.run(
            "INSERT OR REPLACE INTO feed_token VALUES (?, ?, ?)", key + [.blob(token)])
    }
}

extension RecordStore {
    /// Whether the feed of a zone has begun anew and is not through yet.
    package func hasFeedPass(_ zone: ZoneID) throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in
            try connection.hasFeedPass(of: zone)
        }
    }

    /// Whether the server has ever told of a record of this name.
    package func isOfServer(_ name: RecordName, in zone: ZoneID) throws(RecordError) -> Bool {
        try read { connection throws(RecordError) in
            try connection.isOfServer(name, in: zone)
        }
    }

    /// Records that the server had and that the pass has not told of yet.
    package func untoldRecords(
        _ type: RecordTypeName, in zone: ZoneID, limit: Int
    ) throws(RecordError) -> [RecordName] {
        try read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT r.name FROM base b JOIN record r ON r.id = b.record_id
                JOIN record_type t ON t.id = r.type_id
                WHERE r.zone_id = ?1 AND t.name = ?2
                    AND b.pass != (SELECT pass FROM feed_pass WHERE zone_id = ?1)
                ORDER BY r.id LIMIT ?3
                """, [.integer(zone.rawValue), .name(type), .integer(Int64(limit))]
            ) { RecordName(bytes: $0.bytes(0)) }
        }
    }

    /// The token to continue a feed with; nil when nothing of it was applied yet.
    package func feedToken(of feed: Feed) throws(RecordError) -> [UInt8]? {
        try read { connection throws(RecordError) in try connection.feedToken(of: feed) }
    }
}

extension SQLConnection {
    /// Whether the server has ever told of a record of this name.
    func isOfServer(_ name: RecordName, in zone: ZoneID) throws(RecordError) -> Bool {
        try exists(
            "SELECT 1 FROM history WHERE zone_id = ? AND name = ? AND author = ?",
            [.integer(zone.rawValue), .name(name), .text(Author.sync.rawValue)])
    }

    func feedToken(of feed: Feed) throws(RecordError) -> [UInt8]? {
        try first(
            "SELECT token FROM feed_token WHERE database = ? AND zone_id = ?",
            [.integer(feed.database), .integer(feed.zone)]
        ) { $0.bytes(0) }
    }
}

extension Feed {
    /// Zone numbers begin with 1, databases too.
    fileprivate var database: Int64 {
        switch self {
        case .database(let database): database.rawValue
        case .zone: 0
        }
    }

    fileprivate var zone: Int64 {
        switch self {
        case .database: 0
        case .zone(let zone): zone.rawValue
        }
    }
}
