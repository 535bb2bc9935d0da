import Logging
package import RecordModel
import RecordStore
import RecordWire

extension Exchange {
    /// What a database's feed has told.
    package struct DatabaseNews: Sendable {
        /// Those with changes to fetch.
        package var zones: [ZoneID] = []
        /// For `finish`, when all of the zones are fetched.
        package var token: [UInt8]
    }

    /// Asks which zones have changes; new ones are made here. What has become of one that is gone
    /// there, its own download finds. Nil when nothing is new.
    ///
    /// Nothing is lost when this is the last that happens: until `finish` the feed tells all of it
    /// again.
    ///
    /// - Parameter unfinished: news whose zones are still being fetched: they are not told again. What
    ///   this returns has to be finished with them.
    package func fetchDatabase(
        after unfinished: DatabaseNews? = nil
    ) async throws(SyncProblem) -> DatabaseNews? {
        if database == .public { return try publicNews() }
        // What could not go when a share ended, or has ended without any news.
        try scrub()
        let saved = try read { (store) throws(RecordError) in
            try store.feedToken(of: .database(database))
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
                logger.notice("The feed of the database begins anew", metadata: ["why": "\(error)"])
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
            // A feed from its beginning does not tell of zones that are gone.
            zones += try read { (store) throws(RecordError) in
                // Of zones of others none is only here.
                database == .shared
                    ? try store.zones(in: database).map(\.id)
                    : try store.zonesOfServer(in: database).map(\.id)
            }
        }
        let end = token?.utf8 ?? []
        if try read({ (store) throws(RecordError) in try store.missesBytes() }) {
            try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.retryMissingBytes()
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
        return news
    }

    /// All that the news named is fetched.
    package func finish(_ news: DatabaseNews) throws(SyncProblem) {
        if database == .public { return }
        try write(isFreeing: database == .shared) { (transaction) throws(RecordError) in
            try transaction.setFeedToken(news.token, of: .database(database))
            if database == .shared { try transaction.forgetNews() }
        }
    }

    /// Zones of others that were told of and not all fetched: when they are shared no longer, a feed that
    /// begins before they came does not tell that they are gone.
    private func zonesOfUnfinishedNews() throws(SyncProblem) -> [ZoneID] {
        guard database == .shared else { return [] }
        return try read { (store) throws(RecordError) in try store.zonesOfNews() }
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

    /// What the server tells of the room for this database, in place of what it told before. Most of
    /// the time that is the same, and then nothing is written.
    private func note(_ answers: [QuotaAnswer]) throws(SyncProblem) {
        let quotas = answers.map {
            Quota(
                owner: database == .shared ? OwnerName(bytes: $0.owner.bytes) : .me,
                totalBytes: $0.totalBytes, freeBytes: $0.freeBytes)
        }
        let known = try read { (store) throws(RecordError) in try store.quotas(of: database) }
        guard Set(known) != Set(quotas) else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.setQuotas(quotas, of: database)
        }
    }

    /// What the server tells that this account is invited to, likewise.
    private func note(_ answers: [InvitationAnswer]) throws(SyncProblem) {
        guard database == .shared else { return }
        let invitations = try answers.map { (answer) throws(SyncProblem) in
            do throws(ServerError) {
                return try Invitation(answer)
            } catch {
                throw .unreadable("changes/database: \(error.reason)")
            }
        }
        let known = try read { (store) throws(RecordError) in try store.invitations() }
        guard known != invitations else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.setInvitations(invitations)
        }
        try scrub()
    }

    /// The zone when there is something to fetch.
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
                if let known = try transaction.syncedZone(database, owner, name) {
                    if database == .shared { try transaction.noteNews(of: known.id) }
                    return known.isRemoved && isLeftOut(name) ? nil : known.id
                }
                if answer.isDeleted || isLeftOut(name) { return nil }
                let zone =
                    owner == .me
                    ? try transaction.makeZone(database, owner, name).id
                    : try transaction.makeSharedZone(
                        of: owner, address: answer.ownerAddress.map { OwnerName(bytes: $0.utf8) },
                        name
                    ).id
                if database == .shared { try transaction.noteNews(of: zone) }
                if settings.policy.extent(of: name) == .full {
                    try transaction.pin(.zone(zone), in: zone)
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

    /// Makes a zone there that only this machine has; harmless when somebody was faster. Others that have
    /// to be made are made with it.
    func makeThere(_ zone: SyncedZone) async throws(SyncProblem) {
        if zonesAhead.takeMade(zone.id) { return }
        let others = zonesAhead.claim(try unmadeZones(but: zone))
        let zones = [zone] + others
        var made: [SyncedZone] = []
        defer { zonesAhead.end(others, made: made.filter { $0.id != zone.id }) }
        let items = try await modify(
            zones.map { ZoneOperation(type: .create, zone: ZoneIdentifier($0)) })
        // Answers stand in the order of the operations.
        var problem: WireError?
        for (place, item) in items.enumerated() where zones.indices.contains(place) {
            switch item {
            case .zone: made.append(zones[place])
            case .failed(_, let error): if place == 0 { problem = error }
            }
        }
        if made.count > 1 { try await lookAhead(made) }
        if let problem { throw .refused(problem) }
    }

    /// As many as go into one request, beside that one.
    private func unmadeZones(but zone: SyncedZone) throws(SyncProblem) -> [SyncedZone] {
        guard database == .private else { return [] }
        var unmade: [SyncedZone] = []
        for other in try zonesWithWork() where !other.isRemoved && other.id != zone.id {
            guard unmade.count < ServerLimits.itemsPerRequest - 1 else { break }
            let isKnown = try read { (store) throws(RecordError) in
                try store.feedToken(of: .zone(other.id)) != nil
            }
            if !isKnown { unmade.append(other) }
        }
        return unmade
    }

    /// Asks for the feeds of new zones, which mostly have nothing yet, in one request.
    private func lookAhead(_ zones: [SyncedZone]) async throws(SyncProblem) {
        let requests = zones.map(firstRequest(of:))
        let answer = try await transport.send(
            .zoneChanges, scope, ZoneChangesRequest.body(requests, feedKeys(isFirst: true))
        ) { json throws(ServerError) in try ZoneChangesAnswer(json) }
        for (zone, page) in zip(zones, answer.split) { zonesAhead.keep(page, of: zone.id) }
    }

    /// Removes a zone there that was removed here, unless somebody has put something into it since it
    /// was fetched.
    func removeThere(_ zone: SyncedZone) async throws(SyncProblem) {
        var removal = ZoneOperation(type: .delete, zone: ZoneIdentifier(zone))
        do throws(SyncProblem) {
            do throws(SyncProblem) {
                removal.onlyEmpty = settings.hasExtensions
                try await modify(one: removal)
            } catch  where removal.onlyEmpty && error.reaction == .merge {
                // Records that cannot be shown here go with the zone.
                guard try await download(zone) == 0 else { return }
                removal.onlyEmpty = false
                try await modify(one: removal)
            }
        } catch  where error.reaction == .findZone || error.reaction == .remake {
            // Gone already.
        }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.setFeedToken(nil, of: .zone(zone.id))
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
