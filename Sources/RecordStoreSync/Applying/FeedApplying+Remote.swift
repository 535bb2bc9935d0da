package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// Applies a page of changes that the server reports for a zone, and stores the token that ends
    /// the page: both, or neither. Applying the page again has no effect.
    ///
    /// Writes history with the transaction's author, which has to be `sync`. Drafts stay. The lists
    /// of objects are left to `StoreModel.settleLinks`, at the end of the download. Errors:
    /// notFound for the zone; invalidArgument for another author.
    package func applyRemote(_ page: RemotePage) throws(RecordError) -> [RemoteResult] {
        // A page without a token is no part of a download, which would write them at its end.
        transaction.leavesLists = page.token != nil
        var application = try RemoteApplication(transaction, page.zone)
        var results: [RemoteResult] = []
        results.reserveCapacity(page.changes.count)
        for change in page.changes { results.append(try application.apply(change)) }
        try notePassedOver(of: page)
        try transaction.sharing.noteShares(of: page)
        for name in page.passedOver.compactMap(\.name) { try noteTold(name, in: page.zone) }
        if let token = page.token { try setFeedToken(token, of: .zone(page.zone)) }
        if page.isLast { results += try endFeedPass(&application) }
        return try results + takeAwayOrphans(of: results, &application)
    }

    /// Removes the records that a page reports as deleted, when the disk has no space for the page,
    /// and at the end of a pass the records that the pass has not reported. Neither the feed nor
    /// the pass continues: the page is applied again later.
    ///
    /// Errors: those of `applyRemote`.
    package func applyRemovals(of page: RemotePage) throws(RecordError) -> [RemoteResult] {
        var application = try RemoteApplication(transaction, page.zone)
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

    private func endFeedPass(
        _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult] {
        guard let results = try removeUntold(&application) else { return [] }
        try transaction.sharing.forgetUntoldShares(of: application.zone)
        try abandonFeedPass(of: application.zone)
        if application.isOfOthers {
            try transaction.sharing.eraseTracesOfGone(in: application.zone)
        }
        return results
    }

    /// Removes the records that the pass has not reported. Returns nil when there is no pass that
    /// would have reported all records.
    private func removeUntold(
        _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult]? {
        let zone = SQLValue.integer(application.zone.rawValue)
        let pass = try transaction.connection.first(
            "SELECT pass FROM feed_pass WHERE zone_id = ?", [zone]
        ) {
            $0.int64(0)
        }
        guard let pass else { return nil }
        let missing = try transaction.connection.all(
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

    /// Moves to the trash the records that were never sent and whose parents are no longer shared.
    /// They can be sent to nobody, so they are removed like these parents.
    ///
    /// - Parameter results: the results of the page; a record that it leaves in place makes no
    ///   orphans.
    private func takeAwayOrphans(
        of results: [RemoteResult], _ application: inout RemoteApplication
    ) throws(RecordError) -> [RemoteResult] {
        guard application.isOfOthers,
            results.contains(where: { $0.outcome == .deleted || $0.outcome == .absent })
        else { return [] }
        let zone = SQLValue.integer(application.zone.rawValue)
        guard try !transaction.connection.sync.isSharedWhole(application.zone) else { return [] }
        var results: [RemoteResult] = []
        var isNew = true
        while isNew {
            isNew = false
            let unsent = try transaction.connection.all(
                """
                SELECT \(StoredRow.columns) FROM record WHERE zone_id = ?1 AND name IN
                    (SELECT name FROM outbox WHERE zone_id = ?1 AND operation = 1)
                """, [zone]
            ) { StoredRow($0) }
            for record in unsent where try isOrphan(record) {
                guard let name = record.name else { continue }
                let result = try application.apply(RemoteChange(deleted: name))
                results.append(result)
                // A record that stays would be found forever.
                if result.outcome == .deleted { isNew = true }
            }
        }
        return results
    }

    /// Returns whether its parent is not here, or whether it is a removed record under another
    /// name.
    private func isOrphan(_ record: StoredRow) throws(RecordError) -> Bool {
        if try transaction.sharing.isMadeOfGone(record) { return true }
        guard let text = try transaction.connection.records.savedText(of: record.id) else {
            return false
        }
        let place = try transaction.place(record.entry.type)
        guard let parent = try transaction.outbox.document(text, of: record.id, place).parent else {
            return false
        }
        return try transaction.connection.records.stored(named: parent, record.zone) == nil
    }

    /// Notes the states in a list of records that the server has sent without their fields.
    ///
    /// - Returns: the records that are not here, or that have another state than on the server.
    package func noteTold(
        _ told: [(name: RecordName, changeTag: String)], in zone: ZoneID
    ) throws(RecordError) -> [RecordName] {
        var different: [RecordName] = []
        for (name, tag) in told {
            guard let record = try transaction.connection.records.stored(named: name, zone),
                try transaction.connection.sync.baseTag(of: record.id)?.tag == tag
            else {
                different.append(name)
                continue
            }
            try transaction.merging.noteTold(record.id)
        }
        return different
    }

    /// Notes that the server was asked for a record with that name.
    package func noteTold(_ name: RecordName, in zone: ZoneID) throws(RecordError) {
        if let record = try transaction.connection.records.stored(named: name, zone) {
            try transaction.merging.noteTold(record.id)
        }
    }

    /// Applies one change, in the same way as a page with this change.
    package func applyRemote(
        _ change: RemoteChange, in zone: ZoneID
    ) throws(RecordError) -> RemoteResult {
        var application = try RemoteApplication(transaction, zone)
        return try application.apply(change)
    }

    /// Moves the token of a feed forward, because everything up to there is known. Does nothing if
    /// the feed has another token than `known` by now.
    package func advanceFeed(
        _ feed: Feed, from known: [UInt8], to token: [UInt8]
    ) throws(RecordError) {
        try transaction.connection.run(
            "UPDATE feed_token SET token = ? WHERE database = ? AND zone_id = ? AND token = ?",
            [
                .blob(token), .integer(feed.database), .integer(feed.zone), .blob(known),
            ])
    }
}

extension SyncState {
    /// Returns whether the feed of a zone has started again and is not complete yet.
    package func hasFeedPass(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.sync.hasFeedPass(of: zone)
        }
    }

    /// Returns whether the server has ever reported a record with this name.
    package func isOfServer(_ name: RecordName, in zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.sync.isOfServer(name, in: zone)
        }
    }

    /// Returns records that the server had and that the pass has not reported yet.
    package func untoldRecords(
        _ type: RecordTypeName, in zone: ZoneID, limit: Int
    ) throws(RecordError) -> [RecordName] {
        try store.read { connection throws(RecordError) in
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

    /// Returns the token that continues a feed. Returns nil when nothing of the feed was applied
    /// yet.
    package func feedToken(of feed: Feed) throws(RecordError) -> [UInt8]? {
        try store.read { connection throws(RecordError) in try connection.sync.feedToken(of: feed) }
    }
}
