package import Logging
import RecordModel
package import RecordStore

/// Downloads the large fields of pinned records before anybody reads them, as long as `run` runs.
package actor PinKeeper {
    private let store: RecordStore
    private let downloads: AssetDownloads
    private let logger: Logger
    private let backoff: Backoff
    private let jitter: @Sendable () -> Double
    /// Returns whether downloads are allowed. They are not while the exchange is paused, or while
    /// nobody is signed in.
    private let mayBring: @Sendable () -> Bool
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation
    /// The assets that could not be downloaded. They are not tried again until `nextPass`; other
    /// assets are.
    private var failed: Set<ContentHash> = []
    private var nextPass: ContinuousClock.Instant?
    /// The number of failures in a row since the pass began.
    private var failures = 0
    /// The number of passes since the last downloaded file.
    private var vainPasses = 0
    private var alarm: Task<Void, Never>?

    /// The number of downloads at the same time. It is less than that of `AssetDownloads`, so that
    /// a reader does not wait for pinned records.
    private static let width = 2
    /// The number of failures in a row after which all downloads wait, because the server is then
    /// probably not reachable.
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

    /// Looks for something to download. To be called after a change of the store, and when the
    /// exchange continues.
    package nonisolated func look() { waker.yield() }

    /// Runs until its task is cancelled.
    package func run() async {
        var iterator = wake.makeAsyncIterator()
        look()
        while !Task.isCancelled {
            await iterator.next(isolation: self)
            while !Task.isCancelled, mayBring(), await bringNext() {}
        }
        alarm?.cancel()
    }

    /// Downloads some of the missing assets. Returns false when there is nothing more to try now.
    private func bringNext() async -> Bool {
        if let nextPass, nextPass <= .now {
            self.nextPass = nil
            failed = []
            failures = 0
        }
        guard failures < Self.patience else { return false }
        let missing: [AssetEntry]
        do throws(RecordError) {
            missing = try store.assets.missingPinnedAssets(limit: Self.width, except: failed)
        } catch {
            logger.warning("The pins cannot be listed", metadata: ["why": "\(error)"])
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
                "A pinned file was not downloaded",
                metadata: ["asset": "\(asset.id.rawValue)", "why": "\(error.code.rawValue)"])
        }
    }

    /// Sets the time of the next attempt for failed downloads, unless it is already set.
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
