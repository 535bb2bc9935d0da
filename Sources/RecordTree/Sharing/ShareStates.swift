import RecordModel

/// The shares that end or are not shown for a moment.
final class ShareStates: Sendable {
    let options: TreeOptions
    private let table = StateLock(ShareTable())

    init(_ ground: Ground) {
        options = ground.options
    }

    private var uptime: Duration { options.clock.uptime }

    /// Notes that a handle tries a text. Returns false when it has tried the same text before.
    func noteTry(_ text: [UInt8], by handle: HandleNumber) -> Bool {
        table.withLock { $0.noteTry(text, by: handle) }
    }

    func forgetTry(by handle: HandleNumber) { table.withLock { $0.forgetTry(by: handle) } }

    func isAside(_ file: ShareFile) -> Bool {
        let uptime = uptime
        return table.withLock { $0.isAside(file, at: uptime) }
    }

    func setAside(_ file: ShareFile, for time: Duration) {
        let end = uptime + time
        table.withLock { $0.setAside(file, until: end) }
    }

    /// Returns the shares that are shown again.
    func takeShownAgain() -> [ShareFile] {
        let uptime = uptime
        return table.withLock { $0.takeShownAgain(at: uptime) }
    }

    /// The shares that were removed and did not end yet.
    var ends: [ShareFile] { table.withLock(\.ends) }

    func isEnding(_ file: ShareFile) -> Bool { table.withLock { $0.isEnding(file) } }

    func ends(until time: Duration) -> [ShareFile] { table.withLock { $0.ends(until: time) } }

    /// Notes that a share ends after a time, and is not shown for longer than that may take.
    func end(_ file: ShareFile, after time: Duration, asideFor aside: Duration) {
        let end = uptime + time
        table.withLock { $0.end(file, at: end, asideUntil: end + aside) }
    }

    /// Returns whether the share was ending.
    func cancelEnd(of file: ShareFile) -> Bool { table.withLock { $0.cancelEnd(of: file) } }

    func noteFailedLeave(by program: Int32?, of zone: ZoneID, for time: Duration) {
        let failed = FailedLeave(program: program, until: uptime + time)
        table.withLock { $0.noteFailed(failed, of: zone) }
    }

    var hasFailedLeaves: Bool { table.withLock(\.hasFailedLeaves) }

    /// Returns the last failed leave of a zone as long as it counts.
    func failedLeave(of zone: ZoneID) -> FailedLeave? {
        let uptime = uptime
        return table.withLock { $0.failedLeave(of: zone, at: uptime) }
    }
}
