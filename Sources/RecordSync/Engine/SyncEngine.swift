import Logging
package import RecordModel
package import RecordStore
import RecordStoreSync
import RecordWire
import Synchronization

/// Keeps one database of an account and the store in sync, as long as `run` runs.
///
/// It makes no decisions itself: `SyncSchedule` decides what is due and when, and `Exchange` does
/// the work. The engine only waits, begins jobs and reports to the schedule how they ended.
package actor SyncEngine {
    nonisolated let exchange: Exchange
    private let clock: any WallClock
    private let jitter: @Sendable () -> Double
    private var schedule: SyncSchedule
    /// The zones that the database's feed has reported and that are not downloaded yet. The token
    /// of the feed is saved when they are.
    private var news: News?
    private struct News {
        /// The zones, each with the number of the news that reported it last.
        var left: [ZoneID: Int] = [:]
        var feed: Exchange.DatabaseNews
    }
    private var newsNumber = 0
    /// Indicates that `run` is over: no more work is done.
    private var hasEnded = false
    private var problems = SyncProblems()
    /// The time when the server was last asked for news and answered.
    private var lastFetch: Timestamp?
    /// Indicates whether the first contact was noted.
    private var hasContact = false
    /// The engines of the other databases of the store.
    private let neighbours: EngineGroup
    /// The callers that wait until everything possible is done.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let lastStatus = Mutex(
        SyncStatus(isPaused: false, needsSignIn: false, isIdle: false, problems: []))
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    package init(
        _ exchange: Exchange, schedule: SyncSchedule.Settings = SyncSchedule.Settings(),
        of neighbours: EngineGroup = EngineGroup(), clock: any WallClock = SystemClock(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.exchange = exchange
        self.neighbours = neighbours
        self.clock = clock
        self.jitter = jitter
        self.schedule = SyncSchedule(settings: schedule)
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: Events

    /// Notes local changes at once: something may have to be sent. For `RecordStore.observe`.
    package nonisolated func noteChanges(_ changes: [StoreChange]) {
        let zones = Set(changes.filter { $0.author != .sync }.map(\.zone))
        guard !zones.isEmpty else { return }
        Task { await self.changed(zones) }
    }

    private func changed(_ zones: Set<ZoneID>) {
        for zone in zones { schedule.changed(zone, at: clock.uptime) }
        publish()
        waker.yield()
    }

    /// Notes that the server has something new.
    package func told() {
        schedule.told(at: clock.uptime)
        waker.yield()
    }

    /// Notes that the server has something new in one zone, so that the feed of the database need
    /// not be read. For a zone that is not on this machine the feed is read.
    func told(of zone: ZoneIdentifier?) {
        var known: ZoneID?
        if let zone, exchange.database == .private {
            do throws(SyncProblem) {
                known = try exchange.zoneID(of: zone.zone)
            } catch {
                problems.note(error, of: nil, at: clock.now)
            }
        }
        guard let known else { return told() }
        schedule.told(of: known, at: clock.uptime)
        waker.yield()
    }

    /// Notes whether a courier reports news. Then regular looks at the feed are few. No courier
    /// reports news of the public database.
    func noteCourier(isThere: Bool) {
        guard exchange.database != .public else { return }
        schedule.courier(isThere: isThere, at: clock.uptime)
        waker.yield()
    }

    /// Notes that the server can probably be reached again.
    package func online() {
        schedule.online(at: clock.uptime)
        publish()
        waker.yield()
    }

    /// Makes all work due now.
    package func kick() {
        exchange.publicTypes.compareSoon()
        lookForChanges()
        schedule.kick(at: clock.uptime)
        waker.yield()
    }

    /// Does all due work now, and returns when everything possible is done. `status` has the
    /// problems of the rest. Only while `run` runs.
    package func finishDueWork() async {
        guard !hasEnded else { return }
        kick()
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Pauses until `resume`, also across a restart of the process.
    package func pause() {
        schedule.pause()
        keepPaused(true)
        publish()
    }

    package func resume() {
        schedule.resume(at: clock.uptime)
        keepPaused(false)
        publish()
        waker.yield()
    }

    private func keepPaused(_ isPaused: Bool) {
        do throws(SyncProblem) {
            try exchange.write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.outbox.setPaused(isPaused)
            }
        } catch {
            problems.note(error, of: nil, at: clock.now)
        }
    }

    /// The status at the last change. Reading it does not wait.
    package nonisolated var published: SyncStatus {
        var status = lastStatus.withLock(\.self)
        status.downloads = exchange.progress.all
        return status
    }

    private func publish() {
        let status = SyncStatus(
            isPaused: schedule.isPaused, needsSignIn: schedule.needsSignIn,
            isIdle: schedule.isIdle && news == nil, problems: problems.all,
            lastFetch: lastFetch, nextTry: nextTry)
        lastStatus.withLock { $0 = status }
    }

    /// The time of the next attempt after a failure.
    private var nextTry: Timestamp? {
        guard !problems.all.isEmpty, let next = schedule.nextTime() else { return nil }
        return clock.now + max(next - clock.uptime, .zero)
    }

    // MARK: The loop

    /// Runs until its task is cancelled, and ends after the running work.
    package func run() async {
        do throws(SyncProblem) {
            let isPaused = try exchange.read { (store) throws(RecordError) in
                try store.syncState.isPaused()
            }
            if isPaused { schedule.pause() }
            try exchange.applyPolicy()
            try exchange.shares.scrub()
            // Another version of the program may be able to show them.
            try exchange.write(isFreeing: true) { (transaction) throws(RecordError) in
                try transaction.retryPassedOver(of: exchange.database)
            }
        } catch {
            problems.note(error, of: nil, at: clock.now)
        }
        lookForChanges()
        publish()
        await withDiscardingTaskGroup { group in
            var iterator = wake.makeAsyncIterator()
            while !Task.isCancelled {
                while let job = schedule.begin(at: clock.uptime) {
                    group.addTask { await self.perform(job) }
                }
                if schedule.isAtRest(at: clock.uptime) { resumeWaiting() }
                let alarm = setAlarm()
                await iterator.next(isolation: self)
                alarm?.cancel()
            }
        }
        hasEnded = true
        resumeWaiting()
    }

    private func resumeWaiting() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    private func setAlarm() -> Task<Void, Never>? {
        guard let next = schedule.nextTime() else { return nil }
        let wait = max(next - clock.uptime, .zero)
        return Task {
            do {
                try await Task.sleep(for: wait)
                waker.yield()
            } catch {
                // Another event was earlier.
            }
        }
    }

    /// Looks for changes to send that nobody has reported: saved before the engine ran, or merged.
    /// Without a zone it also looks for records to ask for again.
    private func lookForChanges(in zone: ZoneID? = nil) {
        do throws(SyncProblem) {
            for zone in try exchange.zonesWithWork(zone) {
                schedule.changed(zone.id, at: clock.uptime)
            }
            guard zone == nil else { return }
            for zone in try exchange.zonesToRetry() { schedule.told(of: zone, at: clock.uptime) }
        } catch {
            problems.note(error, of: nil, at: clock.now)
        }
    }

    /// Looks again for changes in all engines when records have moved. A record that moved to
    /// another zone is deleted at its old place when the copy is on the server.
    private func lookForMoved() async throws(SyncProblem) {
        let hasMoves = try exchange.read { (store) throws(RecordError) in
            try store.past.hasMoves()
        }
        guard hasMoves else { return }
        lookAgain()
        for engine in neighbours.all where engine !== self { await engine.lookAgain() }
    }

    private func lookAgain() {
        lookForChanges()
        waker.yield()
    }

    private func perform(_ job: SyncSchedule.Job) async {
        let ending: SyncSchedule.Ending
        let start = clock.now
        let zone = job.zone
        let number = newsNumber
        // The part of the job that is under way, for the event of its failure.
        var part = job.kind
        exchange.running.begin(part, zone, at: start, isRetry: problems.has(zone))
        do throws(SyncProblem) {
            switch job {
            case .database:
                noteFirstContactBegins()
                try await fetchDatabase()
                // The public database has no feed: nothing was requested.
                guard exchange.database != .public else { break }
                noteContact(since: start)
                lastFetch = clock.now
            case .zone(let id, let downloads, let uploads):
                part = .export
                exchange.running.proceed(part, id, at: start)
                let again = try await exchange.resume(id)
                if again > 0 { noteWork(.export, id, since: start, again) }
                if downloads {
                    part = .import
                    exchange.running.proceed(part, id, at: start)
                    let count = try await exchange.work(id, downloads: true, uploads: false)
                    if count > 0 { noteWork(.import, id, since: start, count) }
                    try fetched(id, number)
                    // A merged record is news for the server.
                    lookForChanges(in: id)
                }
                if uploads {
                    part = .export
                    let start = clock.now
                    exchange.running.proceed(part, id, at: start)
                    let count = try await exchange.work(id, downloads: false, uploads: true)
                    if count > 0 {
                        noteWork(.export, id, since: start, count)
                        try await lookForMoved()
                    }
                }
            }
            problems.clear(zone)
            ending = .done
        } catch {
            // The first of several failures in a row is noted, and each end of what an event has told of.
            let isFirst = problems.note(error, of: zone, at: clock.now)
            if isFirst || exchange.running.hasBegun(zone) {
                note(part, zone, since: start, 0, "\(error)")
            }
            exchange.logger.warning(
                "Sync", metadata: ["why": "\(error.description(inLogOf: exchange.database))"])
            if let zone, error.reaction == .findZone {
                schedule.told(at: clock.uptime)
                // For a zone of others the download finds that it is gone. This machine never makes
                // such a zone.
                if exchange.database == .shared { schedule.told(of: zone, at: clock.uptime) }
            }
            ending =
                error.reaction == .signIn
                ? .needsSignIn
                : error.isWithoutAnswer
                    ? .unanswered
                    : .failed(retryAfter: error.retryAfter, ofServer: error.isOfServer)
        }
        endRunning(zone)
        schedule.end(job, ending, at: clock.uptime, jitter: jitter())
        publish()
        waker.yield()
    }

    /// Tells that this machine tries to reach the server, once.
    private func noteFirstContactBegins() {
        guard !hasContact, exchange.database != .public else { return }
        keeping { (transaction) throws(RecordError) in
            try exchange.noteBegin(.setup, nil, transaction)
        }
    }

    /// Takes back the event of an exchange that has done nothing.
    private func endRunning(_ zone: ZoneID?) {
        guard let begun = exchange.running.end(zone) else { return }
        keeping { (transaction) throws(RecordError) in
            try transaction.feed.forget(begun: begun)
        }
    }

    /// Notes the first contact with the server, once. The public database has no setup.
    private func noteContact(since start: Timestamp) {
        guard !hasContact, exchange.database != .public else { return }
        hasContact = true
        note(.setup, nil, since: start)
    }

    /// Notes what was exchanged. The first contact is always the first event, although the feed of
    /// the database and the first zones are asked for at the same time.
    private func noteWork(
        _ kind: SyncEvent.Kind, _ zone: ZoneID, since start: Timestamp, _ records: Int
    ) {
        noteContact(since: start)
        note(kind, zone, since: start, records)
    }

    /// Saves an event for those who want to read it later.
    private func note(
        _ kind: SyncEvent.Kind, _ zone: ZoneID?, since start: Timestamp, _ records: Int = 0,
        _ error: String? = nil
    ) {
        let event = SyncEvent(
            kind, exchange.database, zone, start: start, end: clock.now, records: Int64(records),
            error: error)
        let begun = exchange.running.take(kind, zone)
        keeping { (transaction) throws(RecordError) in
            try transaction.feed.end(event, begun: begun)
        }
    }

    /// Writes events. An event that cannot be saved, as on a full disk, has no other effect.
    private func keeping(_ body: (Transaction) throws(RecordError) -> Void) {
        do throws(SyncProblem) {
            try exchange.write(body)
        } catch {
            exchange.logger.warning("An event was not kept", metadata: ["why": "\(error)"])
        }
    }

    private func fetchDatabase() async throws(SyncProblem) {
        lookForChanges()
        let feed = try await exchange.fetchDatabase(after: news?.feed)
        guard var news = news ?? feed.map({ News(feed: $0) }) else { return }
        if let feed {
            newsNumber += 1
            news.feed = feed
            for zone in feed.zones {
                news.left[zone] = newsNumber
                schedule.told(of: zone, at: clock.uptime)
            }
        }
        try note(news)
    }

    /// - Parameter number: the number of the news when the download began. Later numbers stand for
    ///   later changes.
    private func fetched(_ zone: ZoneID, _ number: Int) throws(SyncProblem) {
        guard var news, let told = news.left[zone], told <= number else { return }
        news.left[zone] = nil
        try note(news)
    }

    /// Keeps the news. When all of their zones are downloaded, they are finished and dropped.
    private func note(_ news: News) throws(SyncProblem) {
        self.news = news
        guard news.left.isEmpty else { return }
        try exchange.finish(news.feed)
        self.news = nil
    }
}

extension SyncSchedule.Job {
    /// The kind of event for those who follow events.
    fileprivate var kind: SyncEvent.Kind {
        switch self {
        case .database: .setup
        case .zone(_, downloads: true, _): .import
        case .zone: .export
        }
    }
}
