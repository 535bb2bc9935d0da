import RecordModel

/// The shares that end, that are not shown for a moment, and that programs could not leave. All
/// times are uptimes.
///
/// INVARIANT: a tried text is not empty.
struct ShareTable: CheckedState {
    /// Texts of shares that were tried, by the handle that wrote them.
    private(set) var tried: [HandleNumber: [UInt8]] = [:]
    /// Shares that are not shown under their names, with the time until which this lasts.
    private(set) var aside: [ShareFile: Duration] = [:]
    /// Shares that were removed on this machine, with the time at which they end.
    private(set) var ending: [ShareFile: Duration] = [:]
    /// Programs that failed to leave a share and may continue to remove its content.
    private(set) var failedLeaves: [ZoneID: FailedLeave] = [:]

    var size: Int { tried.count }

    var violations: [String] {
        tried.values.contains(where: \.isEmpty) ? ["an empty text was tried"] : []
    }

    // MARK: Texts

    /// Notes that a handle tries a text. Returns false when it has tried the same text before.
    mutating func noteTry(_ text: [UInt8], by handle: HandleNumber) -> Bool {
        tried.updateValue(text, forKey: handle) != text
    }

    mutating func forgetTry(by handle: HandleNumber) { tried[handle] = nil }

    // MARK: Shares that are not shown

    func isAside(_ file: ShareFile, at time: Duration) -> Bool { (aside[file] ?? .zero) > time }

    mutating func setAside(_ file: ShareFile, until time: Duration) { aside[file] = time }

    /// Returns the shares that are shown again.
    mutating func takeShownAgain(at time: Duration) -> [ShareFile] {
        let due = aside.filter { $0.value <= time }.map(\.key)
        for file in due { aside[file] = nil }
        return due
    }

    // MARK: Shares that end

    var ends: [ShareFile] { Array(ending.keys) }

    func isEnding(_ file: ShareFile) -> Bool { ending[file] != nil }

    func ends(until time: Duration) -> [ShareFile] {
        ending.filter { $0.value <= time }.map(\.key)
    }

    mutating func end(_ file: ShareFile, at time: Duration, asideUntil end: Duration) {
        ending[file] = time
        aside[file] = end
    }

    /// Returns whether the share was ending.
    mutating func cancelEnd(of file: ShareFile) -> Bool {
        aside[file] = nil
        return ending.removeValue(forKey: file) != nil
    }

    // MARK: Failed leaves

    mutating func noteFailed(_ leave: FailedLeave, of zone: ZoneID) { failedLeaves[zone] = leave }

    var hasFailedLeaves: Bool { !failedLeaves.isEmpty }

    /// Returns the last failed leave of a zone as long as it counts.
    mutating func failedLeave(of zone: ZoneID, at time: Duration) -> FailedLeave? {
        guard let failed = failedLeaves[zone] else { return nil }
        guard failed.until > time else {
            failedLeaves[zone] = nil
            return nil
        }
        return failed
    }
}
