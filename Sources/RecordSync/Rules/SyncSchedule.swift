package import RecordModel

/// The work of the engine and its times. The schedule knows which work is due, which is running and
/// which has to wait after failures. It knows nothing about stores and servers. Times are uptimes
/// that the caller gives, so that a change of the clock has no effect.
///
/// Only one job of a zone runs at a time.
package struct SyncSchedule: Sendable {
    package struct Settings: Sendable {
        /// The time after the last of several changes until they are sent, so that many saves need
        /// few uploads. The first change after so long a time without an upload is sent at once.
        package var uploadDelay = Duration.milliseconds(200)
        /// The longest time after the first of several changes until they are sent, however long
        /// the changes continue.
        package var longestUploadDelay = Duration.seconds(2)
        /// The time between two looks at the changes of others, without notifications.
        package var pollInterval = Duration.seconds(30)
        /// The time between two such looks while a courier reports news. Its hints may get lost.
        package var pollIntervalWithCourier = Duration.seconds(300)
        package var concurrentJobs = 4
        package var backoff = Backoff()
        /// The longest wait after requests without an answer. With it and the time of one more
        /// request, the engine notices within ten seconds that the server can be reached again.
        package var longestProbeWait = Duration.seconds(5)

        package init() {}
    }

    package enum Job: Hashable, Sendable {
        /// The feed of the database: which zones have news.
        case database
        case zone(ZoneID, downloads: Bool, uploads: Bool)

        var zone: ZoneID? {
            switch self {
            case .database: nil
            case .zone(let id, _, _): id
            }
        }
    }

    /// The end of a job.
    package enum Ending: Hashable, Sendable {
        case done
        /// The job is to be repeated later, not before the time that the server asked for. With
        /// `ofServer` all work waits.
        case failed(retryAfter: Duration?, ofServer: Bool)
        /// No answer arrived: all work waits for the next probe.
        case unanswered
        /// No work continues before somebody signs in.
        case needsSignIn
    }

    private struct Zone {
        /// The first and the last change that was not sent.
        var firstChange: Duration?
        var lastChange: Duration?
        /// The time when the last upload ended.
        var lastUpload: Duration?
        var downloadAt: Duration?
        var isRunning = false
        var failures = 0
        /// No job begins before this time.
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
    /// The server has asked for no requests until this time. Nobody may override it.
    private var throttledUntil = Duration.zero
    /// Indicates whether the last request had no answer.
    private var isUnanswered = false
    /// The number of jobs that had no answer, and this number when each running job began. The
    /// database has the key nil.
    private var unansweredCount = 0
    private var countAtStart: [ZoneID?: Int] = [:]
    package private(set) var isPaused = false
    package private(set) var needsSignIn = false

    package init(settings: Settings = Settings()) { self.settings = settings }

    /// Returns the time when the next job can begin. Returns nil when no job waits for a time.
    package func nextTime() -> Duration? {
        guard !isPaused, !needsSignIn, running < settings.concurrentJobs else { return nil }
        var times = zones.values.compactMap { due($0) }
        if let feedAt, !isFeedRunning { times.append(feedAt) }
        return times.min().map { max($0, heldUntil) }
    }

    /// Indicates whether no work is running and none is due.
    package var isIdle: Bool { running == 0 && zones.values.allSatisfy { due($0) == nil } }
    /// Returns whether no work is running: all is done, or waits for a time. A short pause that the
    /// server asked for does not count as rest.
    package func isAtRest(at now: Duration) -> Bool {
        guard running == 0 else { return false }
        let pause = throttledUntil - now
        let isPausing = pause > .zero && pause <= Self.longestPause
        return !isPausing || isPaused || needsSignIn
    }

    /// The longest pause that callers wait for when they wait for all work to be done.
    private static let longestPause = Duration.seconds(60)

    // MARK: Events

    /// Notes that a change to send was saved on this machine.
    package mutating func changed(_ zone: ZoneID, at now: Duration) {
        zones[zone, default: Zone()].firstChange = zones[zone]?.firstChange ?? now
        zones[zone]?.lastChange = now
    }

    /// Notes that the server has news of a zone.
    package mutating func told(of zone: ZoneID, at now: Duration) {
        zones[zone, default: Zone()].downloadAt = now
    }

    /// Notes that the server has news of some zone.
    package mutating func told(at now: Duration) { feedAt = now }

    /// Notes whether a courier reports news. When it no longer does, the next look is soon.
    package mutating func courier(isThere: Bool, at now: Duration) {
        if hasCourier, !isThere, let feedAt {
            self.feedAt = min(feedAt, now + settings.pollInterval)
        }
        hasCourier = isThere
    }

    /// Makes all work due now. Work that waits after failures continues, except for waits that the
    /// server asked for. A refused sign-in is tried once more.
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

    /// Notes that the server answers again, or that the network has changed. Work no longer waits
    /// because of a missing answer, and the engine asks for news.
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

    /// Begins the next job and returns it. Returns nil when no job is due.
    package mutating func begin(at now: Duration) -> Job? {
        guard let next = nextTime(), next <= now else { return nil }
        running += 1
        if let feedAt, !isFeedRunning, feedAt <= now {
            self.feedAt = nil
            isFeedRunning = true
            countAtStart[nil] = unansweredCount
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
        countAtStart[id] = unansweredCount
        return .zone(id, downloads: downloads, uploads: uploads)
    }

    /// Notes the end of a job.
    ///
    /// - Parameter jitter: 0..<1.
    package mutating func end(_ job: Job, _ ending: Ending, at now: Duration, jitter: Double) {
        running -= 1
        let isOlder = (countAtStart.removeValue(forKey: job.zone) ?? 0) < unansweredCount
        switch ending {
        // Of two jobs that ran at the same time, the order in which they end does not matter: one
        // that began before another had no answer does not end the wait.
        case .done where isOlder: break
        case .done:
            failures = 0
            isUnanswered = false
            heldUntil = throttledUntil
        case .unanswered:
            unansweredCount += 1
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
            // Clients that were started together do not send their requests together.
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

    // MARK: Times

    private func uploadAt(_ zone: Zone) -> Duration? {
        guard let first = zone.firstChange, let last = zone.lastChange else { return nil }
        guard let before = zone.lastUpload, first < before + settings.uploadDelay else {
            return first
        }
        return min(first + settings.longestUploadDelay, last + settings.uploadDelay)
    }

    /// Returns the time when the next job of a zone may begin.
    private func due(_ zone: Zone) -> Duration? {
        guard !zone.isRunning else { return nil }
        let times = [zone.downloadAt, uploadAt(zone)].compactMap(\.self)
        return times.min().map { max($0, zone.heldUntil) }
    }
}
