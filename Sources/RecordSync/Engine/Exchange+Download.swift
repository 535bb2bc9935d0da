import Logging
import RecordModel
package import RecordStore
import RecordStoreSync
package import RecordWire

extension Exchange {
    /// Downloads the changes of others in a zone, page by page, each with the token at its end.
    ///
    /// A zone that was removed on this machine comes back when somebody has changed a record of it
    /// in the meantime, or has made it again since the server received its removal. A zone that the
    /// server no longer has is removed here too, except for changes that were not sent.
    /// - Parameter first: the first page of its feed, when this piece of work has asked for it.
    /// - Returns: the number of its records that have changed in the store.
    @discardableResult
    package func download(
        _ zone: SyncedZone, first: ZoneChangesAnswer? = nil
    ) async throws(SyncProblem) -> Int {
        if database == .public { return try await mirror(zone) }
        try await resume(zone)
        var first = first
        var changed = 0
        var pages = 0
        defer { if pages > 1 { store.upkeep.noteMuchWork() } }
        var ahead: PageAhead?
        defer {
            ahead?.cancel()
            progress.end(zone.id)
        }
        while true {
            let place = try place(in: zone)
            let isNew = zone.isRemoved && !place.isKnown
            // The pass of a zone that somebody may have made again would show it as a known one.
            if place.token == nil, !isNew {
                // Records that this machine has sent before may be deleted on the server since
                // then.
                try write { (transaction) throws(RecordError) in
                    try transaction.feed.beginFeedPass(of: zone.id)
                }
            }
            let page: ZonePage
            let answer: ZoneChangesAnswer
            do throws(SyncProblem) {
                answer = try await ask(zone, place, first, ahead)
                (ahead, first) = (nil, nil)
                // The feed has restarted and reports more.
                if try noteRestorePoint(answer.restorePoint, place, zone) {
                    continue
                }
                page = try self.page(answer)
            } catch  where error.isAboutToken && place.token != nil {
                note("The feed of a zone starts again", zone, error)
                try write { (transaction) throws(RecordError) in
                    try transaction.feed.restartFeed(of: zone.id)
                }
                continue
            } catch  where error.reaction == .findZone {
                return try changed + noteGone(zone, error, wasKnown: place.isKnown)
            }
            try await assets.identifyAssets(of: page.records)
            // Nothing of this machine is in a zone before its token is set: what is there was put
            // there by somebody else.
            if isNew, !place.isMadeHere || !page.items.isEmpty || page.moreComing {
                try revive(zone)
            }
            if page.moreComing, settings.readsAhead {
                let token = page.syncToken.utf8
                ahead = PageAhead(token: token) { () throws(SyncProblem) in
                    try await ask(zone, after: token)
                }
            }
            if page.moreComing, pages == 0 { try noteDownload(of: zone) }
            progress.note(page.items.count, of: zone.id, total: page.total)
            changed += try await applyFreeing(page, of: zone)
            pages += 1
            guard page.moreComing else {
                try end(zone, answer, hasChanged: changed > 0)
                return changed
            }
            guard page.syncToken.utf8 != place.token else {
                throw .unreadable("changes/zone: more is coming behind a token that stays.")
            }
        }
    }

    /// Returns the page after a place: the first one that is known, or the one that is under way.
    private func ask(
        _ zone: SyncedZone, _ place: FeedPlace, _ first: ZoneChangesAnswer?, _ ahead: PageAhead?
    ) async throws(SyncProblem) -> ZoneChangesAnswer {
        if let ahead, ahead.token == place.token { return try await ahead.answer() }
        if let first, place.token == nil { return first }
        return try await ask(zone, after: place.token)
    }

    /// Tells of a download that takes longer than one page.
    private func noteDownload(of zone: SyncedZone) throws(SyncProblem) {
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try noteBegin(.import, zone.id, hasProgress: true, transaction)
        }
    }

    /// Does what remains after the last page of a zone.
    private func end(
        _ zone: SyncedZone, _ answer: ZoneChangesAnswer, hasChanged: Bool
    ) throws(SyncProblem) {
        // Before the token moves on: an exchange that is killed here asks for the zone again.
        try read { (store) throws(RecordError) in try store.model.settleLinks(in: zone.id) }
        try advanceDatabase(answer)
        guard hasChanged else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try retryMissingReferences(zone, transaction)
        }
    }

    /// Advances the token of the database's feed after the last page of a zone, when that feed
    /// contained nothing else.
    private func advanceDatabase(_ answer: ZoneChangesAnswer) throws(SyncProblem) {
        guard database == .private, let known = answer.knownDatabaseToken,
            let token = answer.databaseToken, token != known
        else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.feed.advanceFeed(.database(database), from: known.utf8, to: token.utf8)
        }
    }

    /// The page after a token. It is requested while the page before it is applied.
    private struct PageAhead {
        let token: [UInt8]
        private let task: Task<Result<ZoneChangesAnswer, SyncProblem>, Never>

        init(
            token: [UInt8],
            _ ask: @escaping @Sendable () async throws(SyncProblem) -> ZoneChangesAnswer
        ) {
            self.token = token
            task = Task {
                do throws(SyncProblem) {
                    return .success(try await ask())
                } catch {
                    return .failure(error)
                }
            }
        }

        func answer() async throws(SyncProblem) -> ZoneChangesAnswer {
            try await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }.get()
        }

        func cancel() { task.cancel() }
    }

    /// The place at which the feed of a zone continues.
    private struct FeedPlace {
        let token: [UInt8]?
        /// Indicates whether the server had the zone.
        let isKnown: Bool
        /// Indicates whether this machine has asked the server to make the zone, for a zone that
        /// was removed here.
        let isMadeHere: Bool
        let restorePoint: ChangePosition?
    }

    private func place(in zone: SyncedZone) throws(SyncProblem) -> FeedPlace {
        try read { (store) throws(RecordError) in
            let token = try store.syncState.feedToken(of: .zone(zone.id))
            // A feed that has restarted belongs to a zone that the server had.
            let hasBegunAnew = try store.syncState.hasFeedPass(zone.id)
            return FeedPlace(
                token: token, isKnown: token != nil || hasBegunAnew,
                isMadeHere: zone.isRemoved ? try store.syncState.isMaking(zone.id) : false,
                restorePoint: try store.syncState.serverRestorePoint(of: zone.id))
        }
    }

    /// - Returns: whether the server was restored since the token of the place was saved.
    private func noteRestorePoint(
        _ told: Text?, _ place: FeedPlace, _ zone: SyncedZone
    ) throws(SyncProblem) -> Bool {
        guard let point = told.flatMap({ ChangePosition(tag: $0.string) }),
            point != place.restorePoint
        else { return false }
        let isNews = try write { (transaction) throws(RecordError) in
            try transaction.feed.noteRestorePoint(point, of: zone.id)
        }
        if isNews {
            logger.notice(
                "The server was restored from a backup; what it lost is sent again",
                metadata: ["zone": "\(zone.name)"])
        }
        return isNews
    }

    /// Handles a zone that the server does not have. The zone was removed, or it was made after the
    /// backup from which the server was restored.
    private func noteGone(
        _ zone: SyncedZone, _ why: SyncProblem, wasKnown: Bool
    ) throws(SyncProblem) -> Int {
        // A zone of others is not made again here, no matter which side has lost it.
        let isOfOthers = database == .shared
        let wasKnown = wasKnown || isOfOthers
        let isBehind = isOfOthers ? false : try isBehind(zone)
        if wasKnown && !isBehind { note("A zone is gone on the server", zone, why) }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            if isBehind {
                try transaction.feed.sendAgain(zone.id)
            } else if wasKnown {
                try transaction.feed.removeZoneOfServer(zone.id)
            } else {
                try transaction.feed.abandonFeedPass(of: zone.id)
                try transaction.feed.endMaking(of: zone.id)
            }
        }
        return wasKnown && !isBehind ? 1 : 0
    }

    /// Brings back a zone that was removed on this machine and made again elsewhere. A zone that a
    /// restored server has again is not brought back.
    private func revive(_ zone: SyncedZone) throws(SyncProblem) {
        if try isBehind(zone) { return }
        try write { (transaction) throws(RecordError) in try transaction.feed.reviveZone(zone.id) }
    }

    private func isBehind(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in try store.syncState.isBehind(zone.id) }
    }

    private func note(_ what: String, _ zone: SyncedZone, _ why: SyncProblem) {
        logger.notice("\(what)", metadata: ["zone": "\(zone.name)", "why": "\(why)"])
    }

    private func ask(
        _ zone: SyncedZone, after token: [UInt8]?
    ) async throws(SyncProblem) -> ZoneChangesAnswer {
        var request = firstRequest(of: zone)
        request.syncToken = token.map(Text.init(utf8:))
        var extensions = feedKeys(isFirst: token == nil)
        extensions.wantsDeletions = try isBehind(zone)
        if settings.hasExtensions, database == .private, token != nil {
            extensions.knownDatabaseToken = try read { (store) throws(RecordError) in
                try store.syncState.feedToken(of: .database(database))
            }.map(Text.init(utf8:))
        }
        var answer = try await transport.send(
            .zoneChanges, scope, ZoneChangesRequest.body([request], extensions)
        ) { json throws(ServerError) in try ZoneChangesAnswer(json) }
        answer.knownDatabaseToken = extensions.knownDatabaseToken
        return answer
    }

    /// Returns the request for a zone from the beginning of its feed.
    func firstRequest(of zone: SyncedZone) -> ZoneChangesRequest {
        var request = ZoneChangesRequest(
            zone: ZoneIdentifier(zone), resultsLimit: settings.pageRecords)
        request.projection = projection
        request.projection.wantsSplices = settings.hasExtensions && database == .private
        return request
    }

    func feedKeys(isFirst: Bool) -> FeedKeys {
        var extensions = FeedKeys()
        extensions.hasExtendedLimits = settings.pageRecords > 200
        extensions.wantsRestorePoint = settings.hasExtensions
        extensions.wantsMoves = settings.hasExtensions
        // The server counts the records without reading them.
        extensions.wantsTotal = settings.hasExtensions && isFirst
        return extensions
    }

    private func page(_ answer: ZoneChangesAnswer) throws(SyncProblem) -> ZonePage {
        switch answer.items.first {
        case .page(let page): return page
        case .failed(_, let error): throw .refused(error)
        case nil: throw .unreadable("changes/zone: the answer has no zone.")
        }
    }

    /// The limit for the long values of a page that are in memory at the same time, in bytes.
    private static let longBytes = 16 << 20

    /// Applies a page. When there is no room for it, only its removals of records that are no
    /// longer shared are applied. Then the feed stays where it is and reports the whole page again.
    private func applyFreeing(
        _ page: ZonePage, of zone: SyncedZone
    ) async throws(SyncProblem) -> Int {
        do throws(SyncProblem) {
            return try await apply(page, of: zone)
        } catch {
            guard error.isAboutSpace, database == .shared else { throw error }
            var read = try readItems(page.items, of: zone)
            read.isLast = !page.moreComing && !read.hasNameless
            _ = try write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.feed.applyRemovals(of: read)
            }
            throw error
        }
    }

    private func apply(
        _ page: ZonePage, of zone: SyncedZone
    ) async throws(SyncProblem) -> Int {
        var changed = 0
        var items: [RecordItem] = []
        items.reserveCapacity(page.items.count)
        var bytes = 0
        for item in page.items {
            guard case .record(let answer) = item else {
                items.append(item)
                continue
            }
            let whole = try await whole(answer, of: zone)
            items.append(.record(whole.answer))
            bytes += whole.bytes
            guard bytes > Self.longBytes else { continue }
            // The token is saved only at the end of the page. When the page arrives again, these
            // records are unchanged.
            changed += try apply(try readItems(items, of: zone))
            (items, bytes) = ([], 0)
        }
        var read = try readItems(items, of: zone)
        // While the server is behind, the end of the pass deletes nothing.
        if read.hasNameless, try !isBehind(zone) {
            try write { (transaction) throws(RecordError) in
                try transaction.feed.abandonFeedPass(of: zone.id)
            }
        }
        read.token = page.syncToken.utf8
        read.isLast = !page.moreComing
        return try changed + apply(read)
    }

    /// Applies records that were not reported by a feed.
    /// - Returns: the number of records that have changed in the store.
    func apply(_ items: [RecordItem], of zone: SyncedZone) async throws(SyncProblem) -> Int {
        try await assets.identifyAssets(of: items.records)
        return try apply(try readItems(try await whole(items, of: zone), of: zone))
    }

    private func apply(_ page: RemotePage) throws(SyncProblem) -> Int {
        do throws(SyncProblem) {
            // Records that are no longer shared are also removed from a full disk.
            let isFreeing =
                database == .shared && page.changes.allSatisfy { $0.operation.isDelete }
            return try write(isFreeing: isFreeing) { (transaction) throws(RecordError) in
                try transaction.feed.applyRemote(page)
            }.changed
        } catch  where error.isAboutContent {
            return try applyOneByOne(page)
        }
    }

    /// Applies the changes of a page one by one, so that a record that cannot be shown here does
    /// not block the others.
    private func applyOneByOne(_ page: RemotePage) throws(SyncProblem) -> Int {
        var changed = 0
        var end = page
        end.changes = []
        for change in page.changes {
            do throws(SyncProblem) {
                changed += try write { (transaction) throws(RecordError) in
                    [try transaction.feed.applyRemote(change, in: page.zone)]
                }.changed
            } catch  where error.isAboutContent {
                end.passedOver.append(passOver(change.name, "\(error)", type: change.type))
            }
        }
        return try changed
            + write { (transaction) throws(RecordError) in
                try transaction.feed.applyRemote(end)
            }.changed
    }

    /// Reads the records of a page.
    private func readItems(
        _ items: [RecordItem], of zone: SyncedZone
    ) throws(SyncProblem) -> RemotePage {
        var page = RemotePage(zone: zone.id, changes: [])
        page.changes.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .deleted(let name, let address, let tag, let gesture):
                // On another server the tag may have another meaning.
                let tag = settings.hasExtensions ? tag?.string : nil
                var change = RemoteChange(
                    deleted: name, movedTo: address, changeTag: tag ?? "")
                change.origin = gesture.flatMap(GestureOrigin.init(_:))
                page.changes.append(change)
            case .record(let answer) where answer.type.isValid:
                if let type = try type(of: answer) {
                    page.changes.append(try change(answer, type))
                } else {
                    let reason =
                        "its type \(answer.type) has the name of an entity of the attached model"
                    page.passedOver.append(passOver(answer.name, reason, type: answer.type))
                }
            case .record(let answer) where answer.type == .share:
                if let share = shares.share(answer) { page.shares.append(share) }
            case .record(let answer):
                page.passedOver.append(
                    passOver(answer.name, "\(answer.type) is no type of records here"))
            case .failed(let name, let error):
                page.passedOver.append(passOver(name, "\(error.text): \(error.reason)"))
            case .unreadable(let error):
                page.passedOver.append(passOver(nil, error.reason))
            }
        }
        return page
    }

    /// Returns the type of a record on this machine. Nil for one that cannot be shown.
    func type(of answer: RecordAnswer) throws(SyncProblem) -> RecordTypeName? {
        try read { (store) throws(RecordError) in
            store.model.type(of: answer.type, by: answer.objectMark)
        }
    }

    func change(
        _ answer: RecordAnswer, _ type: RecordTypeName
    ) throws(SyncProblem) -> RemoteChange {
        var schema: RecordSchema?
        if !settings.hasExtensions {
            schema = try read { (store) throws(RecordError) in try store.schema(of: type) }
        }
        var hashes: [WireAsset: ContentHash] = [:]
        for asset in answer.assets { hashes[asset] = try assets.hash(of: asset) }
        var change = RemoteChange(answer, type: type, schema: schema) { field, index, asset in
            var known = asset
            known.sha256 = hashes[asset]
            return AssetValue(known, of: answer.name, field, index)
        }
        if !settings.hasExtensions {
            change.unstamped = change.modified.map(FieldStamp.init(at:))
            change.fileText = .unknown
        }
        return change
    }

    private func passOver(
        _ name: RecordName?, _ reason: String, type: RecordTypeName? = nil
    ) -> PassedOver {
        // Logs do not name records that others share, because a log outlives the share.
        logger.warning(
            "A record was passed over",
            metadata: database == .shared
                ? [:] : ["record": "\(name?.description ?? "")", "why": "\(reason)"])
        return PassedOver(name, reason, type: type)
    }
}

extension ZonePage {
    fileprivate var records: [RecordAnswer] { items.records }
}

extension [RecordItem] {
    fileprivate var records: [RecordAnswer] {
        compactMap { item in
            if case .record(let record) = item { record } else { nil }
        }
    }
}

extension RemoteChange.Operation {
    fileprivate var isDelete: Bool {
        if case .delete = self { true } else { false }
    }
}

extension [RemoteResult] {
    /// The number of results that have changed something in the store.
    fileprivate var changed: Int {
        count {
            switch $0.outcome {
            case .created, .updated, .deleted: true
            case .unchanged, .kept, .absent: false
            }
        }
    }
}

extension SyncProblem {
    /// Indicates whether the store refuses the content of a record from the server.
    var isAboutContent: Bool {
        guard case .store(let error) = self else { return false }
        return error.isAboutContent || error.code == .invalidName || error.code == .nameTooLong
    }

    /// Indicates whether the disk of the store has no room.
    var isAboutSpace: Bool {
        guard case .store(let error) = self else { return false }
        return error.code == .noSpace
    }
}
