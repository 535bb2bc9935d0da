package import RecordModel
import RecordSQL
package import RecordStore

extension FeedApplying {
    /// Returns a zone by its name, even a removed one.
    package func syncedZone(
        _ database: Database, _ owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> SyncedZone? {
        try transaction.connection.first(
            """
            SELECT \(SyncedZone.columns) FROM zone
            WHERE database = ? AND COALESCE(user, owner) = ? AND name = ?
            """, [.integer(database.rawValue), .name(owner), .name(name)]
        ) { SyncedZone($0) }
    }

    /// Makes a zone that somebody shares. It is shown under the owner's address, if the server
    /// reports the address and no other owner is shown under it. An owner who is shown here
    /// already, or was earlier, keeps that name.
    ///
    /// - Parameter owner: the owner, as the server names them.
    package func makeSharedZone(
        of owner: OwnerName, address: OwnerName?, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo {
        let shown = try shownName(of: owner, address)
        let zone = try transaction.makeZone(.shared, shown, name)
        if shown != owner {
            try transaction.connection.run(
                "UPDATE zone SET user = ? WHERE id = ?",
                [.name(owner), .integer(zone.id.rawValue)])
        }
        return zone
    }

    private func shownName(
        of owner: OwnerName, _ address: OwnerName?
    ) throws(RecordError) -> OwnerName {
        let shared = SQLValue.integer(Database.shared.rawValue)
        let known = try transaction.connection.first(
            """
            SELECT owner FROM zone WHERE database = ? AND COALESCE(user, owner) = ?
            ORDER BY removed, id LIMIT 1
            """, [shared, .name(owner)]
        ) { OwnerName(bytes: $0.bytes(0)) }
        if let known { return known }
        guard let address, address.isValid else { return owner }
        let isTaken = try transaction.connection.exists(
            "SELECT 1 FROM zone WHERE database = ? AND owner = ?", [shared, .name(address)])
        return isTaken ? owner : address
    }

    /// Removes a zone that the server no longer has: records that came from there move to the
    /// trash. Records with unsent changes stay, and so does the zone, which is made there again:
    /// the edit wins.
    ///
    /// Local files that are no records, such as a git repository, exist nowhere else. Their
    /// directories stay, with the feed's token, so that the zone is not made again on the server
    /// because of them.
    package func removeZoneOfServer(_ zone: ZoneID) throws(RecordError) {
        let token = try transaction.connection.sync.feedToken(of: .zone(zone))
        let beganAnew = try transaction.connection.sync.hasFeedPass(of: zone)
        try setFeedToken(nil, of: .zone(zone))
        try abandonFeedPass(of: zone)
        try forgetPassedOver(of: zone)
        try transaction.sharing.forgetShares(of: zone)
        // The deletion of a record that does not exist there any more is complete.
        try transaction.connection.run(
            "DELETE FROM outbox WHERE zone_id = ? AND operation = 3", [.integer(zone.rawValue)])
        let known = try transaction.connection.first(
            "SELECT 1 FROM zone WHERE id = ? AND removed = 0", [.integer(zone.rawValue)]
        ) { _ in true }
        guard known == true else { return }
        let isOfOthers = try transaction.requireZone(zone).database == .shared
        if isOfOthers { try withdraw(zone, mayHaveLost: beganAnew) }
        var application = try RemoteApplication(transaction, zone)
        let names = try transaction.connection.all(
            "SELECT name FROM record WHERE zone_id = ? AND name IS NOT NULL",
            [.integer(zone.rawValue)]
        ) { RecordName(bytes: $0.bytes(0)) }
        for name in names {
            if !isOfOthers {
                _ = try application.apply(RemoteChange(deleted: name))
            } else if let record = try transaction.connection.records.stored(named: name, zone) {
                try transaction.records.finalizeDelete(record.id)
            }
        }
        try removeEmptyTypes(of: zone, isOfOthers: isOfOthers)
        let isUnsent = try transaction.connection.exists(
            "SELECT 1 FROM outbox WHERE zone_id = ?", [.integer(zone.rawValue)])
        if let token, !isUnsent, try isThere(zone) { try setFeedToken(token, of: .zone(zone)) }
        if isOfOthers {
            try transaction.sharing.eraseTraces(of: zone)
            transaction.sharing.note([ShareNews(.ended)], of: zone)
        }
    }

    /// Withdraws a zone of others. Only its owner can make it again, so data that this user has
    /// written and that was not sent is kept in the trash.
    ///
    /// - Parameter mayHaveLost: whether the zone's feed started again before the zone was removed,
    ///   as it does when the server comes back from a backup. Acknowledged changes may have been
    ///   lost there.
    private func withdraw(_ zone: ZoneID, mayHaveLost: Bool) throws(RecordError) {
        let rows = try transaction.connection.all(
            "SELECT \(Columns.outbox) FROM outbox WHERE zone_id = ? ORDER BY id",
            [.integer(zone.rawValue)]
        ) { $0.outbox() }
        try transaction.moves.takeBackMoves(to: zone)
        try transaction.sharing.noteWordsOfOthers(in: zone)
        try transaction.sharing.trashDrafts(of: zone)
        try keepOwnDrafts(in: zone)
        if mayHaveLost {
            let deleted = rows.filter { $0.operation == .delete }
            try transaction.sharing.keepOwnEdits(in: zone, but: Set(deleted.map(\.name)))
        } else {
            for row in rows { try transaction.sharing.keepOwnEdit(of: row) }
        }
        try transaction.connection.run(
            "DELETE FROM outbox WHERE zone_id = ?", [.integer(zone.rawValue)])
        try transaction.outbox.forgetRequest(in: zone)
    }

    private func keepOwnDrafts(in zone: ZoneID) throws(RecordError) {
        let records = try transaction.connection.all(
            """
            SELECT \(StoredRow.columns) FROM record WHERE zone_id = ? AND name IS NOT NULL
                AND id IN (SELECT record_id FROM draft)
            """, [.integer(zone.rawValue)]
        ) { StoredRow($0) }
        for record in records {
            if let name = record.name {
                try transaction.sharing.keepOwnDraft(of: record, named: name)
            }
        }
    }

    /// Notes, before the request, that the server is asked to make zones. Leaves out zones that were
    /// removed on this machine in the meantime, and zones that the server has. The request may
    /// arrive although its answer does not. With the note a zone that is removed here before its
    /// feed is read is removed on the server too, and does not come back like a zone that somebody
    /// else has made.
    ///
    /// - Returns: the noted zones; none when the first of them is left out.
    package func noteMaking(of zones: [SyncedZone]) throws(RecordError) -> [SyncedZone] {
        var asked: [SyncedZone] = []
        for zone in zones where try isThere(zone.id) {
            let token = try transaction.connection.sync.feedToken(of: .zone(zone.id))
            if token == nil { asked.append(zone) }
        }
        guard asked.first?.id == zones.first?.id else { return [] }
        for zone in asked {
            try transaction.connection.run(
                """
                INSERT OR REPLACE INTO meta (key, value)
                VALUES (\(SyncedZone.makingKey("?1")), ?1)
                """,
                [.integer(zone.id.rawValue)])
        }
        return asked
    }

    /// Notes that the shared database has reported a zone. Until `forgetNews` its news may not be
    /// downloaded yet.
    package func noteNews(of zone: ZoneID) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
            [.text("news \(zone.rawValue)"), .integer(zone.rawValue)])
    }

    /// Notes that everything the shared database has reported is downloaded.
    package func forgetNews() throws(RecordError) {
        try transaction.connection.run("DELETE FROM meta WHERE key LIKE 'news %'")
    }

    private func isThere(_ zone: ZoneID) throws(RecordError) -> Bool {
        try transaction.connection.exists(
            "SELECT 1 FROM zone WHERE id = ? AND removed = 0", [.integer(zone.rawValue)])
    }

    /// Returns whether a zone has files of this machine, in it or in one of its types.
    func holdsScratch(_ zone: ZoneID) throws(RecordError) -> Bool {
        if try transaction.store.places.holdsScratch(of: zone) { return true }
        let types = try transaction.connection.all(
            "SELECT id FROM record_type WHERE zone_id = ?", [.integer(zone.rawValue)]
        ) { TypeID($0.int64(0)) }
        for type in types where try transaction.store.places.holdsScratch(of: type) { return true }
        return false
    }

    /// Removes the empty types of a zone, and the zone when nothing is left in it. Local files may
    /// have copies of everything that was there. They keep your own zones, but not the zones of
    /// others.
    private func removeEmptyTypes(
        of zone: ZoneID, isOfOthers: Bool
    ) throws(RecordError) {
        let empty = try transaction.connection.all(
            """
            SELECT id FROM record_type t WHERE zone_id = ?
                AND NOT EXISTS (SELECT 1 FROM record WHERE type_id = t.id)
            """, [.integer(zone.rawValue)]
        ) { TypeID($0.int64(0)) }
        for type in empty {
            if !isOfOthers, try transaction.store.places.holdsScratch(of: type) { continue }
            try transaction.removeType(type)
            if isOfOthers { try transaction.sharing.markForScrub(.type(type)) }
        }
        let isLeft = try transaction.connection.exists(
            "SELECT 1 FROM record_type WHERE zone_id = ?", [.integer(zone.rawValue)])
        if isLeft { return }
        if !isOfOthers, try transaction.store.places.holdsScratch(of: zone) { return }
        try transaction.removeZone(zone)
        if isOfOthers { try transaction.sharing.markForScrub(.zone(zone)) }
    }
}

extension SyncState {
    /// Returns the zones of a database with something to send to the server: changes that it may
    /// accept, including those that an upload has left, and the making or the removal of the zone.
    ///
    /// - Parameter zone: nil for all zones.
    package func zonesWithWork(
        in database: Database, _ zone: ZoneID? = nil
    ) throws(RecordError) -> [SyncedZone] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(SyncedZone.columns) FROM zone z
                WHERE database = ?1 AND (?2 IS NULL OR id = ?2)
                    AND (database != \(Database.public.rawValue) OR name = ?3)
                    AND (EXISTS (SELECT 1 FROM outbox WHERE zone_id = z.id
                            AND error IS NULL AND waits_for_asset = 0)
                        OR removed = EXISTS (SELECT 1 FROM feed_token
                            WHERE database = 0 AND zone_id = z.id)
                        OR removed = 1 AND \(SyncedZone.mayBeOnServer))
                ORDER BY id
                """,
                [
                    .integer(database.rawValue), .optional(zone?.rawValue),
                    .name(ZoneName.publicZone),
                ]
            ) { SyncedZone($0) }
        }
    }

    /// Returns a zone that somebody shares, by the owner's name on the server. Returns nil when it
    /// is not here.
    package func sharedZone(
        of owner: OwnerName, _ name: ZoneName
    ) throws(RecordError) -> ZoneInfo? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                """
                SELECT \(Columns.zone) FROM zone
                WHERE database = ? AND COALESCE(user, owner) = ? AND name = ? AND removed = 0
                """, [.integer(Database.shared.rawValue), .name(owner), .name(name)]
            ) { $0.zone() }
        }
    }

    /// Returns the zones that `noteNews` has noted.
    package func zonesOfNews() throws(RecordError) -> [ZoneID] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                "SELECT value FROM meta WHERE key LIKE 'news %' ORDER BY value"
            ) { ZoneID($0.int64(0)) }
        }
    }

    /// Returns the zones that the server had when it was last asked.
    package func zonesOfServer(in database: Database) throws(RecordError) -> [SyncedZone] {
        try store.read { connection throws(RecordError) in
            try connection.all(
                """
                SELECT \(SyncedZone.columns) FROM zone z
                WHERE database = ? AND EXISTS (SELECT 1 FROM feed_token
                    WHERE database = 0 AND zone_id = z.id)
                ORDER BY id
                """, [.integer(database.rawValue)]
            ) { SyncedZone($0) }
        }
    }

    /// Returns whether the server was asked to make a zone and has not shown yet whether it has it.
    package func isMaking(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM meta WHERE key = \(SyncedZone.makingKey("?1"))",
                [.integer(zone.rawValue)])
        }
    }

    /// Returns whether the server has a zone, or may have it: this machine has asked it to make the
    /// zone, or the zone's feed has started again.
    package func mayBeOnServer(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                """
                SELECT 1 FROM zone z WHERE id = ?1 AND (\(SyncedZone.mayBeOnServer)
                    OR EXISTS (SELECT 1 FROM feed_token WHERE database = 0 AND zone_id = z.id))
                """, [.integer(zone.rawValue)])
        }
    }

    package func syncedZone(_ id: ZoneID) throws(RecordError) -> SyncedZone? {
        try store.read { connection throws(RecordError) in
            try connection.first(
                "SELECT \(SyncedZone.columns) FROM zone WHERE id = ?", [.integer(id.rawValue)]
            ) { SyncedZone($0) }
        }
    }

    /// Returns whether something in a zone can be sent.
    package func hasReady(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                """
                SELECT 1 FROM outbox INDEXED BY outbox_ready
                WHERE zone_id = ? AND batch = 0 AND error IS NULL AND waits_for_asset = 0
                """, [.integer(zone.rawValue)])
        }
    }

    /// Returns whether a zone has a change that was not sent, for whatever reason.
    package func hasOutgoing(_ zone: ZoneID) throws(RecordError) -> Bool {
        try store.read { connection throws(RecordError) in
            try connection.exists(
                "SELECT 1 FROM outbox WHERE zone_id = ?", [.integer(zone.rawValue)])
        }
    }
}

extension SyncedZone {
    fileprivate static let columns = "id, database, COALESCE(user, owner), name, owner, removed"

    /// The condition for a zone `z` without a token that the server may have. A restored server
    /// that has lost a zone does not have it until somebody makes it again.
    fileprivate static let mayBeOnServer = """
        (EXISTS (SELECT 1 FROM meta WHERE key = \(makingKey("z.id")))
            OR EXISTS (SELECT 1 FROM feed_pass WHERE zone_id = z.id AND restored = 0))
        """

    fileprivate init(_ row: SQLStatement) {
        self.init(
            id: ZoneID(row.int64(0)), database: Database(rawValue: row.int64(1)) ?? .local,
            owner: OwnerName(bytes: row.bytes(2)), name: ZoneName(bytes: row.bytes(3)),
            shownOwner: OwnerName(bytes: row.bytes(4)), isRemoved: row.bool(5))
    }
}
