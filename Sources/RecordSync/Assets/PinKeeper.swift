package import Logging
import RecordModel
package import RecordStore

/// Brings the large fields of what is pinned before anybody reads them, as long as `run` runs.
package actor PinKeeper {
    private let store: RecordStore
    private let downloads: AssetDownloads
    private let logger: Logger
    private let backoff: Backoff
    private let jitter: @Sendable () -> Double
    /// Whether it has to wait: the exchange is paused, or nobody is signed in.
    private let mayBring: @Sendable () -> Bool
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation
    /// Those that did not come, until `nextPass`; meanwhile others may.
    private var failed: Set<ContentHash> = []
    private var nextPass: ContinuousClock.Instant?
    /// In a row, since the pass began.
    private var failures = 0
    /// Passes since the last file that came.
    private var vainPasses = 0
    private var alarm: Task<Void, Never>?

    /// Less than `AssetDownloads` brings at the same time: who reads does not wait for what is pinned.
    private static let width = 2
    /// Failures in a row: then the server is not there, rather than the files, and all wait.
    private static let patience = 4

    package init(
        store: RecordStore, downloads: AssetDownloads, logger: Logger,
        backoff: Backoff = Backoff(first: .seconds(2), longest: .seconds(60)),
        mayBring: @escaping @Sendable () -> Bool = { true },
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.store = store
        self.downloads = downloads
        self.logger = logger
        self.backoff = backoff
        self.jitter = jitter
        self.mayBring = mayBring
        (wake, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Something may be there to bring: a change of the store, or the exchange goes on.
    package nonisolated func look() { waker.yield() }

    /// Ends when its task is cancelled.
    package func run() async {
        var iterator = wake.makeAsyncIterator()
        look()
        while !Task.isCancelled {
            await iterator.next(isolation: self)
            while !Task.isCancelled, mayBring(), await bringNext() {}
        }
        alarm?.cancel()
    }

    /// Brings some of what is missing; false when there is nothing more to try now.
    private func bringNext() async -> Bool {
        if let nextPass, nextPass <= .now {
            self.nextPass = nil
            failed = []
            failures = 0
        }
        guard failures < Self.patience else { return false }
        let missing: [AssetEntry]
        do throws(RecordError) {
            missing = try store.missingPinnedAssets(limit: Self.width, except: failed)
        } catch {
            logger.warning("What is pinned cannot be listed", metadata: ["why": "\(error)"])
            endPass()
            return false
        }
        guard !missing.isEmpty else {
            if !failed.isEmpty { endPass() }
            return false
        }
        await withDiscardingTaskGroup { group in
            for asset in missing { group.addTask { await self.bring(asset) } }
        }
        if failures >= Self.patience { endPass() }
        return true
    }

    private func bring(_ asset: AssetEntry) async {
        guard let hash = asset.hash else { return }
        do throws(RecordError) {
            try await downloads.bring(asset)
            failures = 0
            vainPasses = 0
        } catch {
            failed.insert(hash)
            failures += 1
            logger.debug(
                "A pinned file did not come",
                metadata: ["asset": "\(asset.id.rawValue)", "why": "\(error.code.rawValue)"])
        }
    }

    /// Says when those that did not come have their next turn, unless that is said.
    private func endPass() {
        guard nextPass == nil else { return }
        vainPasses = min(vainPasses + 1, 16)
        let wait = backoff.wait(failures: vainPasses, jitter: jitter())
        nextPass = .now + wait
        alarm?.cancel()
        alarm = Task { [waker] in
            do {
                try await Task.sleep(for: wait)
                waker.yield()
            } catch {
                // The keeper has ended.
            }
        }
    }
}
