import Logging
package import RecordModel
package import RecordStore
import RecordWire
import Synchronization

/// Keeps one database of an account and the store in step, as long as `run` runs.
///
/// It decides nothing by itself: what is due and when, `SyncSchedule` says; what is done, `Exchange`
/// does. It only waits, begins jobs and tells the schedule how they ended.
package actor SyncEngine {
    private let exchange: Exchange
    private let clock: any WallClock
    private let jitter: @Sendable () -> Double
    private var schedule: SyncSchedule
    /// The zones that the database's feed has named and that are not fetched yet; its token is saved
    /// when they are.
    private var news: News?
    private struct News {
        let number: Int
        var left: Set<ZoneID>
        let feed: Exchange.DatabaseNews
    }
    private var newsNumber = 0
    /// `run` is over: nobody does anything any more.
    private var hasEnded = false
    private var problems = SyncProblems()
    /// Those who wait until all is done that can be.
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let lastStatus = Mutex(
        SyncStatus(isPaused: false, needsSignIn: false, isIdle: false, problems: []))
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation

    package init(
        _ exchange: Exchange, schedule: SyncSchedule.Settings = SyncSchedule.Settings(),
        clock: any WallClock = SystemClock(),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.exchange = exchange
        self.clock = clock
        self.jitter = jitter
        self.schedule = SyncSchedule(settings: schedule)
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    // MARK: What happens elsewhere

    /// For `RecordStore.observe`: says at once that something may have to be sent.
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

    /// The server says that something is new.
    package func told() {
        schedule.told(at: clock.uptime)
        waker.yield()
    }

    /// Now, not when it is due.
    package func kick() {
        exchange.publicTypes.compareSoon()
        lookForChanges()
        schedule.kick(at: clock.uptime)
        waker.yield()
    }

    /// Does now what there is to do, and returns when all is done that can be: `status` has what was
    /// not. Only while `run` runs.
    package func settle() async {
        guard !hasEnded else { return }
        kick()
        await withCheckedContinuation { waiting.append($0) }
    }

    package func pause() {
        schedule.pause()
        publish()
    }

    package func resume() {
        schedule.resume(at: clock.uptime)
        publish()
        waker.yield()
    }

    /// How it stood when something last changed; waits for nothing.
    package nonisolated var published: SyncStatus { lastStatus.withLock(\.self) }

    private func publish() {
        let status = SyncStatus(
            isPaused: schedule.isPaused, needsSignIn: schedule.needsSignIn,
            isIdle: schedule.isIdle && news == nil, problems: problems.all)
        lastStatus.withLock { $0 = status }
    }

    // MARK: The loop

    /// Ends when its task is cancelled, after what is under way.
    package func run() async {
        do throws(SyncProblem) {
            try exchange.applyPolicy()
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
                if schedule.isAtRest { resumeWaiting() }
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

    /// Hears of news from the server as long as its task runs; without, they come with the next look.
    ///
    /// Returns at once for the public database, whose changes no notification of a database tells.
    package func listen() async {
        if exchange.database == .public { return }
        let listener = PushListener(transport: exchange.transport, scope: exchange.scope)
        let backoff = Backoff(first: .seconds(1), longest: .seconds(60))
        var failures = 0
        while !Task.isCancelled {
            let start = clock.uptime
            do throws(SyncProblem) {
                try await listener.listen { await self.told() }
            } catch {
                exchange.logger.debug("Push", metadata: ["why": "\(error)"])
            }
            // One that has served for long is not a failure in a row.
            failures = clock.uptime - start > .seconds(60) ? 1 : min(failures + 1, 16)
            do {
                try await Task.sleep(for: backoff.wait(failures: failures, jitter: jitter()))
            } catch {
                return
            }
        }
    }

    private func setAlarm() -> Task<Void, Never>? {
        guard let next = schedule.nextTime() else { return nil }
        let wait = max(next - clock.uptime, .zero)
        return Task {
            do {
                try await Task.sleep(for: wait)
                waker.yield()
            } catch {
                // Something else was earlier.
            }
        }
    }

    /// What is to be sent and nobody has told of: saved before the engine ran, or merged.
    private func lookForChanges(in zone: ZoneID? = nil) {
        do throws(SyncProblem) {
            for zone in try exchange.zonesWithWork(zone) {
                schedule.changed(zone.id, at: clock.uptime)
            }
        } catch {
            problems.note(error, of: nil, at: clock.now)
        }
    }

    private func perform(_ job: SyncSchedule.Job) async {
        let ending: SyncSchedule.Ending
        let zone: ZoneID? =
            switch job {
            case .database: nil
            case .zone(let id, _, _): id
            }
        let number = newsNumber
        do throws(SyncProblem) {
            switch job {
            case .database: try await fetchDatabase()
            case .zone(let id, let downloads, let uploads):
                try await exchange.work(id, downloads: downloads, uploads: uploads)
                if downloads {
                    try fetched(id, number)
                    // What was merged is news there.
                    lookForChanges(in: id)
                }
            }
            problems.clear(zone)
            ending = .done
        } catch {
            problems.note(error, of: zone, at: clock.now)
            exchange.logger.warning("Sync", metadata: ["why": "\(error)"])
            if zone != nil, error.reaction == .findZone { schedule.told(at: clock.uptime) }
            ending =
                error.reaction == .signIn
                ? .needsSignIn
                : .failed(retryAfter: error.retryAfter, ofServer: error.isOfServer)
        }
        schedule.end(job, ending, at: clock.uptime, jitter: jitter())
        publish()
        waker.yield()
    }

    private func fetchDatabase() async throws(SyncProblem) {
        lookForChanges()
        guard let feed = try await exchange.fetchDatabase() else {
            // What the feed named before it would name again: its token was not saved.
            news = nil
            return
        }
        newsNumber += 1
        news = News(number: newsNumber, left: Set(feed.zones), feed: feed)
        for zone in feed.zones { schedule.told(of: zone, at: clock.uptime) }
    }

    /// - Parameter number: of the news when the download began; later ones are of later changes.
    private func fetched(_ zone: ZoneID, _ number: Int) throws(SyncProblem) {
        guard news?.number == number, news?.left.remove(zone) != nil, let done = news,
            done.left.isEmpty
        else { return }
        news = nil
        try exchange.finish(done.feed)
    }
}
