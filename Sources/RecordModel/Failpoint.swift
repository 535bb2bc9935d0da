import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// The named points at which tests kill the daemon (Guarantees, "What shows it").
///
/// `RECORDFS_FAILPOINT=name:N` sends this process SIGKILL when it passes `name` for the N-th time.
/// With `name:N:hold`, the thread that passes the point then stops there for ever.
/// Without the variable a point costs one load and compare.
package enum Failpoint: String, CaseIterable, Sendable {
    case saveBegin, saveRecordWritten, saveHistoryWritten, saveOutboxWritten, saveCommitted
    case draftBegin, draftCommitted
    case waitingDeleteBegin, waitingDeleteCommitted
    case finalDeleteBegin, finalDeleteTrashed, finalDeleteCommitted
    case cancelDeleteBegin, cancelDeleteCommitted
    case renameSaved, renameScratchRemoved
    case assetWritten, assetMoved, assetReferenced, assetCollected
    case backupWritten
    case syncBegin, syncDone
    case importBatchBegin, importBatchCommitted
    case schemaSamplesUploaded
    case zoneShared
    case serverAssetStored, serverAssetKnown
    case serverCommitted, serverZoneDelete

    private struct Armed: Sendable {
        let point: Failpoint
        let count: Int
        /// Indicates whether the thread stays there for ever while the process lives on.
        let holds: Bool
    }

    private static let armed: Armed? = {
        guard let value = getenv("RECORDFS_FAILPOINT") else { return nil }
        let parts = String(cString: value).split(separator: ":")
        guard let name = parts.first, let point = Failpoint(rawValue: String(name)) else {
            return nil
        }
        return Armed(
            point: point, count: parts.count > 1 ? Int(parts[1]) ?? 1 : 1,
            holds: parts.last == "hold")
    }()

    private static let passed = PassCounter()

    /// Kills the process or stops the thread here when the environment asks for it.
    package static func pass(_ point: Failpoint) {
        guard let armed, armed.point == point else { return }
        guard passed.next() == armed.count else { return }
        while armed.holds { pause() }
        kill(getpid(), SIGKILL)
    }
}

private final class PassCounter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
