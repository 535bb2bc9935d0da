package import RecordModel

/// What the engine has to do and when: it knows what is due, what is under way and what has to wait
/// after failures, and nothing of stores and servers. Times are uptimes, given by the caller, so that
/// nobody who sets the clock moves anything.
///
/// Of one zone one job is under way at a time.
package struct SyncSchedule: Sendable {
    package struct Settings: Sendable {
        /// After the last change of a row of them, so that many saves are few uploads. The first one
        /// after so long without an upload is sent at once.
        package var uploadDelay = Duration.milliseconds(200)
        /// After the first of them, however long they go on.
        package var longestUploadDelay = Duration.seconds(2)
        /// Between two looks at what others have changed, when nobody tells.
        package var pollInterval = Duration.seconds(30)
        /// The same while a courier tells, whose hints may get lost.
        package var pollIntervalWithCourier = Duration.seconds(300)
        package var concurrentJobs = 4
        package var backoff = Backoff()
        /// Longer than that nobody waits after requests that were not answered: with one more each time it
        /// is seen within ten seconds that the server can be reached again.
        package var longestProbeWait = Duration.seconds(5)

        package init() {}
    }

    package enum Job: Hashable, Sendable {
        /// The database's feed: which zones have news.
        case database
        case zone(ZoneID, downloads: Bool, uploads: Bool)
    }

    /// How a job ended.
    package enum Ending: Hashable, Sendable {
        case done
        /// Again later: not before what the server asked for. With `ofServer` everything waits.
        case failed(retryAfter: Duration?, ofServer: Bool)
        /// No answer came: everything waits for the next probe.
        case unanswered
        /// Nothing goes on until somebody has signed in.
        case needsSignIn
    }

    private struct Zone {
        /// The first and the last change that was not sent.
        var firstChange: Duration?
        var lastChange: Duration?
        /// When the last upload ended.
        var lastUpload: Duration?
        var downloadAt: Duration?
        var isRunning = false
        var failures = 0
        /// Nothing begins before.
        var heldUntil = Duration.zero
    }

    private let settings: Settings
    private var zones: [ZoneID: Zone] = [:]
    private var feedAt: Duration? = .zero
    private var isFeedRunning = false
    private var feedFailures = 0
    private var hasCourier = false
    private var running = 0
    private var failures = 0
    private var heldUntil = Duration.zero
    /// Until then the server has asked for silence: nobody may override it.
    private var throttledUntil = Duration.zero
    /// Whether the last request had no answer.
    private var isUnanswered = false
    package private(set) var isPaused = false
    package private(set) var needsSignIn = false

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// When something can be done next; nil when nothing waits for a time.
    package func nextTime() -> Duration? {
        guard !isPaused, !needsSignIn, running < settings.concurrentJobs else { return nil }
        var times = zones.values.compactMap { due($0) }
        if let feedAt, !isFeedRunning { times.append(feedAt) }
        return times.min().map { max($0, heldUntil) }
    }

    /// Whether nothing is under way, nor due.
    package var isIdle: Bool { running == 0 && zones.values.allSatisfy { due($0) == nil } }
    /// Whether nothing is under way: all is done, or waits for a time. A short pause that the server has
    /// asked for is no rest.
    package func isAtRest(at now: Duration) -> Bool {
        guard running == 0 else { return false }
        let pause = throttledUntil - now
        let isPausing = pause > .zero && pause <= Self.longestPause
        return !isPausing || isPaused || needsSignIn
    }

    /// Whoever waits for all to be done waits for it too.
    private static let longestPause = Duration.seconds(60)

    // MARK: What happens

    /// Something to send was saved here.
    package mutating func changed(_ zone: ZoneID, at now: Duration) {
        zones[zone, default: Zone()].firstChange = zones[zone]?.firstChange ?? now
        zones[zone]?.lastChange = now
    }

    /// The server has news of a zone.
    package mutating func told(of zone: ZoneID, at now: Duration) {
        zones[zone, default: Zone()].downloadAt = now
    }

    /// The server has news of some zone.
    package mutating func told(at now: Duration) { feedAt = now }

    /// Whether somebody tells what is new. When nobody does any more, the next look is soon.
    package mutating func courier(isThere: Bool, at now: Duration) {
        if hasCourier, !isThere, let feedAt {
            self.feedAt = min(feedAt, now + settings.pollInterval)
        }
        hasCourier = isThere
    }

    /// Somebody wants it now: what waits after failures goes on, but for what the server asked for,
    /// and a sign-in that was refused is tried once more.
    package mutating func kick(at now: Duration) {
        needsSignIn = false
        feedAt = now
        heldUntil = throttledUntil
        for zone in zones.keys {
            zones[zone]?.heldUntil = .zero
            guard zones[zone]?.firstChange != nil else { continue }
            zones[zone]?.firstChange = now - settings.longestUploadDelay
        }
    }

    /// The server answers somebody again, or the network is another one: nobody waits any more because
    /// there was no answer, and what is new there is asked for.
    package mutating func online(at now: Duration) {
        feedAt = now
        guard isUnanswered else { return }
        isUnanswered = false
        (failures, feedFailures) = (0, 0)
        heldUntil = throttledUntil
    }

    package mutating func pause() { isPaused = true }

    package mutating func resume(at now: Duration) {
        isPaused = false
        kick(at: now)
    }

    // MARK: Jobs

    /// The next job, which is under way from now on; nil when there is none yet.
    package mutating func begin(at now: Duration) -> Job? {
        guard let next = nextTime(), next <= now else { return nil }
        running += 1
        if let feedAt, !isFeedRunning, feedAt <= now {
            self.feedAt = nil
            isFeedRunning = true
            return .database
        }
        let ready = zones.filter { due($0.value).map { $0 <= now } ?? false }
        guard let id = ready.keys.min(by: { $0.rawValue < $1.rawValue }), var zone = ready[id]
        else {
            running -= 1
            return nil
        }
        let downloads = zone.downloadAt.map { $0 <= now } ?? false
        let uploads = uploadAt(zone).map { $0 <= now } ?? false
        if downloads { zone.downloadAt = nil }
        if uploads { (zone.firstChange, zone.lastChange) = (nil, nil) }
        zone.isRunning = true
        zones[id] = zone
        return .zone(id, downloads: downloads, uploads: uploads)
    }

    /// A job is over.
    ///
    /// - Parameter jitter: 0..<1.
    package mutating func end(_ job: Job, _ ending: Ending, at now: Duration, jitter: Double) {
        running -= 1
        switch ending {
        case .done:
            failures = 0
            isUnanswered = false
            heldUntil = throttledUntil
        case .unanswered:
            failures += 1
            isUnanswered = true
            heldUntil = max(now + probeWait(failures, jitter), throttledUntil)
        case .needsSignIn: needsSignIn = true
        case .failed(let retryAfter, let ofServer):
            isUnanswered = false
            if ofServer {
                failures += 1
                heldUntil = now + settings.backoff.wait(failures: failures, jitter: jitter)
            }
            if ofServer, let retryAfter {
                throttledUntil = max(throttledUntil, now + retryAfter)
                heldUntil = max(heldUntil, throttledUntil)
            }
        }
        switch job {
        case .database: endFeed(ending, at: now, jitter: jitter)
        case .zone(let id, let downloads, let uploads):
            var zone = zones[id] ?? Zone()
            zone.isRunning = false
            if uploads { zone.lastUpload = now }
            if ending == .done {
                zone.failures = 0
            } else {
                if downloads { zone.downloadAt = zone.downloadAt ?? now }
                if uploads {
                    zone.firstChange = zone.firstChange ?? now
                    zone.lastChange = zone.lastChange ?? now
                }
            }
            if case .failed(let retryAfter, false) = ending {
                zone.failures += 1
                zone.heldUntil =
                    now
                    + max(
                        retryAfter ?? .zero,
                        settings.backoff.wait(failures: zone.failures, jitter: jitter))
            }
            zones[id] = zone
        }
    }

    private func probeWait(_ failures: Int, _ jitter: Double) -> Duration {
        min(settings.backoff.wait(failures: failures, jitter: jitter), settings.longestProbeWait)
    }

    private mutating func endFeed(_ ending: Ending, at now: Duration, jitter: Double) {
        isFeedRunning = false
        var wait: Duration
        if ending == .done {
            feedFailures = 0
            // Clients that were started together do not ask together.
            let interval =
                hasCourier
                ? max(settings.pollInterval, settings.pollIntervalWithCourier)
                : settings.pollInterval
            wait = interval * (0.9 + 0.2 * jitter)
        } else {
            feedFailures += 1
            wait =
                ending == .unanswered
                ? probeWait(feedFailures, jitter)
                : settings.backoff.wait(failures: feedFailures, jitter: jitter)
        }
        if case .failed(let retryAfter?, _) = ending { wait = max(wait, retryAfter) }
        feedAt = min(feedAt ?? now + wait, now + wait)
    }

    // MARK: When

    private func uploadAt(_ zone: Zone) -> Duration? {
        guard let first = zone.firstChange, let last = zone.lastChange else { return nil }
        guard let before = zone.lastUpload, first < before + settings.uploadDelay else {
            return first
        }
        return min(first + settings.longestUploadDelay, last + settings.uploadDelay)
    }

    /// When a zone's next job may begin.
    private func due(_ zone: Zone) -> Duration? {
        guard !zone.isRunning else { return nil }
        let times = [zone.downloadAt, uploadAt(zone)].compactMap(\.self)
        return times.min().map { max($0, zone.heldUntil) }
    }
}
