import Logging
package import RecordModel
import RecordStore
import RecordStoreSync
import RecordWire

extension Exchange {
    /// The news that a database's feed has reported.
    package struct DatabaseNews: Sendable {
        /// The zones with changes to download.
        package var zones: [ZoneID] = []
        /// The token for `finish`, when all of the zones are downloaded.
        package var token: [UInt8]
    }

    /// Asks which zones have changes. New zones are made on this machine. For a zone that is gone
    /// on the server, its download finds out the reason. Returns nil when nothing is new.
    ///
    /// Nothing is lost when nothing follows: until `finish` the feed reports all of it again.
    ///
    /// - Parameter unfinished: news whose zones are still being downloaded. They are not reported
    ///   again. The returned news must be finished together with them.
    package func fetchDatabase(
        after unfinished: DatabaseNews? = nil
    ) async throws(SyncProblem) -> DatabaseNews? {
        if database == .public { return try publicNews() }
        // Removes bytes that could not be removed when a share ended, and bytes of shares that
        // ended without any news.
        try shares.scrub()
        let saved = try read { (store) throws(RecordError) in
            try store.syncState.feedToken(of: .database(database))
        }
        let old = unfinished?.token ?? saved
        var zones: [ZoneID] = []
        var token = old.map(Text.init(utf8:))
        var isWhole = token == nil
        while true {
            let answer: DatabaseChangesAnswer
            do throws(SyncProblem) {
                answer = try await databasePage(token)
            } catch  where error.isAboutToken && token != nil {
                logger.notice(
                    "The feed of the database starts again", metadata: ["why": "\(error)"])
                (token, isWhole) = (nil, true)
                continue
            }
            for item in answer.zones {
                if let zone = try note(item) { zones.append(zone) }
            }
            let isSame = answer.syncToken == token
            token = answer.syncToken
            guard answer.moreComing else {
                try note(answer.quotas)
                try note(answer.invitations)
                break
            }
            if isSame {
                throw .unreadable("changes/database: more is coming behind a token that stays.")
            }
        }
        if unfinished == nil { zones += try zonesOfUnfinishedNews() }
        if isWhole {
            // A feed from its beginning does not report zones that are gone.
            zones += try read { (store) throws(RecordError) in
                // A zone of others is never only on this machine.
                database == .shared
                    ? try store.zones(in: database).map(\.id)
                    : try store.syncState.zonesOfServer(in: database).map(\.id)
            }
        }
        let end = token?.utf8 ?? []
        if try read({ (store) throws(RecordError) in try store.syncState.missesBytes() }) {
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.outbox.retryMissingBytes()
            }
        }
        var news: DatabaseNews?
        if !zones.isEmpty {
            var seen: Set<ZoneID> = []
            news = DatabaseNews(zones: zones.filter { seen.insert($0).inserted }, token: end)
        }
        if news == nil, old != end {
            if unfinished != nil { return DatabaseNews(token: end) }
            try finish(DatabaseNews(token: end))
        }
        if news == nil, unfinished == nil, database == .private {
            // All that others have done is here.
            try read { (store) throws(RecordError) in try store.model.settleDuplicates() }
        }
        return news
    }

    /// Saves the token of news whose zones are all downloaded.
    package func finish(_ news: DatabaseNews) throws(SyncProblem) {
        if database == .public { return }
        try write(isFreeing: database == .shared) { (transaction) throws(RecordError) in
            try transaction.feed.setFeedToken(news.token, of: .database(database))
            if database == .shared { try transaction.feed.forgetNews() }
        }
    }

    /// Returns the zones of others that were reported and are not all downloaded. When such a zone
    /// is no longer shared, a feed that begins before the zone appeared does not report that it is
    /// gone.
    private func zonesOfUnfinishedNews() throws(SyncProblem) -> [ZoneID] {
        guard database == .shared else { return [] }
        return try read { (store) throws(RecordError) in try store.syncState.zonesOfNews() }
    }

    func databasePage(_ token: Text?) async throws(SyncProblem) -> DatabaseChangesAnswer {
        let request = DatabaseChangesRequest(syncToken: token, resultsLimit: settings.pageRecords)
        var extensions = FeedKeys()
        extensions.wantsOwnerIdentity = settings.hasExtensions && database == .shared
        extensions.wantsQuota = settings.hasExtensions
        extensions.wantsInvitations = settings.hasExtensions && database == .shared
        return try await transport.send(.databaseChanges, scope, request.body(extensions)) {
            json throws(ServerError) in try DatabaseChangesAnswer(json)
        }
    }

    /// Saves the quotas that the server reports for this database, in place of the earlier ones.
    /// Most of the time they are unchanged, and then nothing is written.
    private func note(_ answers: [QuotaAnswer]) throws(SyncProblem) {
        let quotas = answers.map {
            Quota(
                owner: database == .shared ? OwnerName(bytes: $0.owner.bytes) : .me,
                totalBytes: $0.totalBytes, freeBytes: $0.freeBytes)
        }
        let known = try read { (store) throws(RecordError) in
            try store.sharing.quotas(of: database)
        }
        guard Set(known) != Set(quotas) else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.sharing.setQuotas(quotas, of: database)
        }
    }

    /// Saves the invitations of this account that the server reports. Writes nothing when they are
    /// unchanged.
    private func note(_ answers: [InvitationAnswer]) throws(SyncProblem) {
        guard database == .shared else { return }
        let invitations = try answers.map { (answer) throws(SyncProblem) in
            do throws(ServerError) {
                return try Invitation(answer)
            } catch {
                throw .unreadable("changes/database: \(error.reason)")
            }
        }
        let known = try read { (store) throws(RecordError) in try store.sharing.invitations() }
        guard known != invitations else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.sharing.setInvitations(invitations)
        }
        try shares.scrub()
    }

    /// Notes a zone of the feed. Returns the zone when there is something to download.
    private func note(_ item: ZoneItem) throws(SyncProblem) -> ZoneID? {
        switch item {
        case .failed(_, let error): throw .refused(error)
        case .zone(let answer):
            let (name, owner) = (answer.zone.zone, owner(of: answer.zone))
            guard name.isValid else {
                logger.warning("A zone cannot be shown", metadata: ["zone": "\(name)"])
                return nil
            }
            return try write(isFreeing: database == .shared) { (transaction) throws(RecordError) in
                if let known = try transaction.feed.syncedZone(database, owner, name) {
                    if database == .shared { try transaction.feed.noteNews(of: known.id) }
                    return known.isRemoved && isLeftOut(name) ? nil : known.id
                }
                if answer.isDeleted || isLeftOut(name) { return nil }
                let zone =
                    owner == .me
                    ? try transaction.makeZone(database, owner, name).id
                    : try transaction.feed.makeSharedZone(
                        of: owner, address: answer.ownerAddress.map { OwnerName(bytes: $0.utf8) },
                        name
                    ).id
                if database == .shared { try transaction.feed.noteNews(of: zone) }
                if settings.policy.extent(of: name) == .full {
                    try transaction.assets.pin(.zone(zone), in: zone)
                }
                return zone
            }
        }
    }

    private func owner(of zone: ZoneIdentifier) -> OwnerName {
        guard database == .shared, let owner = zone.owner, owner != .defaultOwner else {
            return .me
        }
        return OwnerName(bytes: owner.bytes)
    }

    /// Makes a zone on the server that only this machine has. It does no harm when somebody else
    /// has made it before. The same request also makes other zones that the server does not have
    /// yet.
    /// - Returns: the first page of its feed, if that was asked for together with those of the
    ///   other zones.
    func makeThere(_ zone: SyncedZone) async throws(SyncProblem) -> ZoneChangesAnswer? {
        let others = zonesInWork.claim(try unmadeZones(but: zone))
        defer { for other in others { zonesInWork.end(other.id) } }
        let zones = try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.feed.noteMaking(of: [zone] + others)
        }
        // It may have been removed here by now.
        guard zones.first?.id == zone.id else { return nil }
        var made: [SyncedZone] = []
        let items = try await modify(
            zones.map { ZoneOperation(type: .create, zone: ZoneIdentifier($0)) })
        // The answers are in the order of the operations.
        var problem: WireError?
        for (place, item) in items.enumerated() where zones.indices.contains(place) {
            switch item {
            case .zone: made.append(zones[place])
            case .failed(_, let error): if place == 0 { problem = error }
            }
        }
        var pages: [ZoneID: ZoneChangesAnswer] = [:]
        if made.count > 1 { pages = try await firstPages(of: made) }
        for other in made where other.id != zone.id {
            if let page = pages[other.id] { await begin(other, with: page) }
        }
        if let problem { throw .refused(problem) }
        return pages[zone.id]
    }

    /// Returns other zones to make, as many as fit into one request together with this zone.
    private func unmadeZones(but zone: SyncedZone) throws(SyncProblem) -> [SyncedZone] {
        guard database == .private else { return [] }
        var unmade: [SyncedZone] = []
        for other in try zonesWithWork() where !other.isRemoved && other.id != zone.id {
            guard unmade.count < ServerLimits.itemsPerRequest - 1 else { break }
            if try !isKnown(other) { unmade.append(other) }
        }
        return unmade
    }

    /// Asks for the feeds of new zones in one request. Most of them are still empty.
    private func firstPages(
        of zones: [SyncedZone]
    ) async throws(SyncProblem) -> [ZoneID: ZoneChangesAnswer] {
        let requests = zones.map(firstRequest(of:))
        let answer = try await transport.send(
            .zoneChanges, scope, ZoneChangesRequest.body(requests, feedKeys(isFirst: true))
        ) { json throws(ServerError) in try ZoneChangesAnswer(json) }
        var pages: [ZoneID: ZoneChangesAnswer] = [:]
        for (zone, page) in zip(zones, answer.split) { pages[zone.id] = page }
        return pages
    }

    /// Downloads a new zone, so that from now on this machine knows that the server has it.
    private func begin(_ zone: SyncedZone, with page: ZoneChangesAnswer) async {
        do throws(SyncProblem) {
            guard let zone = try self.zone(zone.id) else { return }
            try await download(zone, first: page)
        } catch {
            // The zone's own work repeats it, and reports the problem.
            logger.debug(
                "A new zone is downloaded later",
                metadata: ["zone": "\(zone.name)", "why": "\(error)"])
        }
    }

    /// Removes a zone on the server that was removed on this machine, unless somebody has put
    /// something into it since it was downloaded.
    func removeThere(_ zone: SyncedZone) async throws(SyncProblem) {
        var removal = ZoneOperation(type: .delete, zone: ZoneIdentifier(zone))
        do throws(SyncProblem) {
            do throws(SyncProblem) {
                removal.onlyEmpty = settings.hasExtensions
                try await modify(one: removal)
            } catch  where removal.onlyEmpty && error.reaction == .merge {
                // Records that cannot be shown on this machine are deleted with the zone.
                guard try await download(zone) == 0 else { return }
                removal.onlyEmpty = false
                try await modify(one: removal)
            }
        } catch  where error.reaction == .findZone || error.reaction == .remake {
            // The zone is already gone.
        }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.feed.setFeedToken(nil, of: .zone(zone.id))
        }
    }

    private func modify(one operation: ZoneOperation) async throws(SyncProblem) {
        for case .failed(_, let error) in try await modify([operation]) { throw .refused(error) }
    }

    private func modify(
        _ operations: [ZoneOperation]
    ) async throws(SyncProblem) -> [ZoneItem] {
        try await transport.send(.zonesModify, scope, ZoneOperation.body(operations)) {
            json throws(ServerError) in try ZoneItem.list(json)
        }
    }
}
