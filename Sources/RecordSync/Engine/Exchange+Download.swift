import Logging
import RecordModel
package import RecordStore
import RecordWire

extension Exchange {
    /// Brings what others have changed in a zone, page by page, each with the token that ends it.
    ///
    /// A zone that was removed here comes back when somebody has changed a record of it meanwhile, or
    /// has made it again since the server was told of its removal. One that the server has no more
    /// goes here too, but for what was not sent.
    /// - Returns: how many records of it have changed here.
    @discardableResult
    package func download(_ zone: SyncedZone) async throws(SyncProblem) -> Int {
        if database == .public { return try await mirror(zone) }
        try await resume(zone)
        var changed = 0
        var pages = 0
        defer { if pages > 1 { store.noteMuchWork() } }
        var ahead: PageAhead?
        defer {
            ahead?.cancel()
            progress.end(zone.id)
        }
        while true {
            let place = try place(in: zone)
            if place.token == nil {
                // What this machine has sent before may be gone there since.
                try write { (transaction) throws(RecordError) in
                    try transaction.beginFeedPass(of: zone.id)
                }
            }
            let page: ZonePage
            let answer: ZoneChangesAnswer
            do throws(SyncProblem) {
                answer =
                    if let ahead, ahead.token == place.token {
                        try await ahead.answer()
                    } else {
                        try await ask(zone, after: place.token)
                    }
                ahead = nil
                // Then the feed has begun anew, and tells more.
                if try noteRestorePoint(answer.restorePoint, place, zone) {
                    continue
                }
                page = try self.page(answer)
            } catch  where error.isAboutToken && place.token != nil {
                note("The feed of a zone begins anew", zone, error)
                try write { (transaction) throws(RecordError) in
                    try transaction.restartFeed(of: zone.id)
                }
                continue
            } catch  where error.reaction == .findZone {
                return try changed + noteGone(zone, error, wasKnown: place.isKnown)
            }
            try await identifyAssets(of: page.records)
            if zone.isRemoved && !place.isKnown { try revive(zone) }
            if page.moreComing, settings.readsAhead {
                let token = page.syncToken.utf8
                ahead = PageAhead(token: token) { () throws(SyncProblem) in
                    try await ask(zone, after: token)
                }
            }
            progress.note(page.items.count, of: zone.id, total: page.total)
            changed += try await applyFreeing(page, of: zone)
            pages += 1
            guard page.moreComing else {
                try advanceDatabase(answer)
                if changed > 0 {
                    try write(isFreeing: true) { (transaction) throws(RecordError) in
                        try retryMissingReferences(zone, transaction)
                    }
                }
                return changed
            }
            guard page.syncToken.utf8 != place.token else {
                throw .unreadable("changes/zone: more is coming behind a token that stays.")
            }
        }
    }

    /// The feed of the database is known behind the last page of a zone, when it had nothing else.
    private func advanceDatabase(_ answer: ZoneChangesAnswer) throws(SyncProblem) {
        guard database == .private, let known = answer.knownDatabaseToken,
            let token = answer.databaseToken, token != known
        else { return }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            try transaction.advanceFeed(.database(database), from: known.utf8, to: token.utf8)
        }
    }

    /// The page behind a token, which is asked for while the one before it is applied.
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

    /// Where the feed of a zone goes on.
    private struct FeedPlace {
        let token: [UInt8]?
        /// Whether the zone was there.
        let isKnown: Bool
        let restorePoint: ChangePosition?
    }

    private func place(in zone: SyncedZone) throws(SyncProblem) -> FeedPlace {
        try read { (store) throws(RecordError) in
            let token = try store.feedToken(of: .zone(zone.id))
            // A feed that began anew is of a zone that was there.
            let hasBegunAnew = try store.hasFeedPass(zone.id)
            return FeedPlace(
                token: token, isKnown: token != nil || hasBegunAnew,
                restorePoint: try store.restorePoint(of: zone.id))
        }
    }

    /// - Returns: whether the server was restored since the place was left.
    private func noteRestorePoint(
        _ told: Text?, _ place: FeedPlace, _ zone: SyncedZone
    ) throws(SyncProblem) -> Bool {
        guard let point = told.flatMap({ ChangePosition(tag: $0.string) }),
            point != place.restorePoint
        else { return false }
        let isNews = try write { (transaction) throws(RecordError) in
            try transaction.noteRestorePoint(point, of: zone.id)
        }
        if isNews {
            logger.notice(
                "The server was restored from a backup; what it lost is sent again",
                metadata: ["zone": "\(zone.name)"])
        }
        return isNews
    }

    /// It was removed, or made after the backup that the server was restored from.
    private func noteGone(
        _ zone: SyncedZone, _ why: SyncProblem, wasKnown: Bool
    ) throws(SyncProblem) -> Int {
        // A zone of others is not made here again, whoever has lost it.
        let isOfOthers = database == .shared
        let wasKnown = wasKnown || isOfOthers
        let isBehind = isOfOthers ? false : try isBehind(zone)
        if wasKnown && !isBehind { note("A zone is gone on the server", zone, why) }
        try write(isFreeing: true) { (transaction) throws(RecordError) in
            if isBehind {
                try transaction.sendAgain(zone.id)
            } else if wasKnown {
                try transaction.removeZoneOfServer(zone.id)
            } else {
                try transaction.abandonFeedPass(of: zone.id)
            }
        }
        return wasKnown && !isBehind ? 1 : 0
    }

    /// A zone that was removed here and made again elsewhere; not one that a restored server has again.
    private func revive(_ zone: SyncedZone) throws(SyncProblem) {
        if try isBehind(zone) { return }
        try write { (transaction) throws(RecordError) in try transaction.reviveZone(zone.id) }
    }

    private func isBehind(_ zone: SyncedZone) throws(SyncProblem) -> Bool {
        try read { (store) throws(RecordError) in try store.isBehind(zone.id) }
    }

    private func note(_ what: String, _ zone: SyncedZone, _ why: SyncProblem) {
        logger.notice("\(what)", metadata: ["zone": "\(zone.name)", "why": "\(why)"])
    }

    private func ask(
        _ zone: SyncedZone, after token: [UInt8]?
    ) async throws(SyncProblem) -> ZoneChangesAnswer {
        if token == nil, let page = zonesAhead.takePage(of: zone.id) { return page }
        var request = firstRequest(of: zone)
        request.syncToken = token.map(Text.init(utf8:))
        var extensions = feedKeys(isFirst: token == nil)
        extensions.wantsDeletions = try isBehind(zone)
        if settings.hasExtensions, database == .private, token != nil {
            extensions.knownDatabaseToken = try read { (store) throws(RecordError) in
                try store.feedToken(of: .database(database))
            }.map(Text.init(utf8:))
        }
        var answer = try await transport.send(
            .zoneChanges, scope, ZoneChangesRequest.body([request], extensions)
        ) { json throws(ServerError) in try ZoneChangesAnswer(json) }
        answer.knownDatabaseToken = extensions.knownDatabaseToken
        return answer
    }

    /// From the beginning of its feed.
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
        // Counted there without a look at the records.
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

    /// Long values of a page that are in memory at once, in bytes.
    private static let longBytes = 16 << 20

    /// Applies a page; of one for which there is no room, what others share no longer. The feed stays
    /// where it is then, and tells all of it again.
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
                try transaction.applyRemovals(of: read)
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
            // The page has not ended: what comes again is as it is here.
            changed += try apply(try readItems(items, of: zone))
            (items, bytes) = ([], 0)
        }
        var read = try readItems(items, of: zone)
        // Over a server that is behind nothing is deleted at the end of the pass.
        if read.hasNameless, try !isBehind(zone) {
            try write { (transaction) throws(RecordError) in
                try transaction.abandonFeedPass(of: zone.id)
            }
        }
        read.token = page.syncToken.utf8
        read.isLast = !page.moreComing
        return try changed + apply(read)
    }

    /// Applies records that no feed has told of.
    /// - Returns: how many have changed here.
    func apply(_ items: [RecordItem], of zone: SyncedZone) async throws(SyncProblem) -> Int {
        try await identifyAssets(of: items.records)
        return try apply(try readItems(try await whole(items, of: zone), of: zone))
    }

    private func apply(_ page: RemotePage) throws(SyncProblem) -> Int {
        do throws(SyncProblem) {
            // What is shared no longer goes also from a full disk.
            let isFreeing =
                database == .shared && page.changes.allSatisfy { $0.operation.isDelete }
            return try write(isFreeing: isFreeing) { (transaction) throws(RecordError) in
                try transaction.applyRemote(page)
            }.changed
        } catch  where error.isAboutContent {
            return try applyOneByOne(page)
        }
    }

    /// A record that cannot be shown here holds up no other.
    private func applyOneByOne(_ page: RemotePage) throws(SyncProblem) -> Int {
        var changed = 0
        var end = page
        end.changes = []
        for change in page.changes {
            do throws(SyncProblem) {
                changed += try write { (transaction) throws(RecordError) in
                    [try transaction.applyRemote(change, in: page.zone)]
                }.changed
            } catch  where error.isAboutContent {
                end.passedOver.append(passOver(change.name, "\(error)"))
            }
        }
        return try changed
            + write { (transaction) throws(RecordError) in
                try transaction.applyRemote(end)
            }.changed
    }

    /// What the records of a page say.
    private func readItems(
        _ items: [RecordItem], of zone: SyncedZone
    ) throws(SyncProblem) -> RemotePage {
        var page = RemotePage(zone: zone.id, changes: [])
        page.changes.reserveCapacity(items.count)
        for item in items {
            switch item {
            case .deleted(let name, let address, let tag):
                // At another server it may mean something else.
                let tag = settings.hasExtensions ? tag?.string : nil
                page.changes.append(
                    RemoteChange(deleted: name, movedTo: address, changeTag: tag ?? ""))
            case .record(let answer) where answer.type.isValid:
                page.changes.append(try change(answer))
            case .record(let answer) where answer.type == .share:
                if let share = share(answer) { page.shares.append(share) }
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

    func change(_ answer: RecordAnswer) throws(SyncProblem) -> RemoteChange {
        var schema: RecordSchema?
        if !settings.hasExtensions {
            schema = try read { (store) throws(RecordError) in try store.schema(of: answer.type) }
        }
        var hashes: [WireAsset: ContentHash] = [:]
        for asset in answer.assets { hashes[asset] = try hash(of: asset) }
        var change = RemoteChange(answer, schema: schema) { field, index, asset in
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

    private func passOver(_ name: RecordName?, _ reason: String) -> PassedOver {
        // What others share is named in no log, which outlives the share.
        logger.warning(
            "A record was passed over",
            metadata: database == .shared
                ? [:] : ["record": "\(name?.description ?? "")", "why": "\(reason)"])
        return PassedOver(name, reason)
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
    /// Those that have changed something here.
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
    /// Whether the store refuses what the server has of a record.
    var isAboutContent: Bool {
        guard case .store(let error) = self else { return false }
        return error.isAboutContent || error.code == .invalidName || error.code == .nameTooLong
    }

    /// True when the disk of the store has no room.
    var isAboutSpace: Bool {
        guard case .store(let error) = self else { return false }
        return error.code == .noSpace
    }
}
