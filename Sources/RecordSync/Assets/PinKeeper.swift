package import Logging
package import RecordModel
package import RecordStore

/// Brings the large fields of what is pinned before anybody reads them, as long as `run` runs.
package actor PinKeeper {
    private let store: RecordStore
    private let downloads: AssetDownloads
    private let logger: Logger
    private let jitter: @Sendable () -> Double
    /// Whether it has to wait: the exchange is paused, or nobody is signed in.
    private let mayBring: @Sendable () -> Bool
    private let wake: AsyncStream<Void>
    private let waker: AsyncStream<Void>.Continuation
    /// Those that did not come, until all others have had their turn.
    private var failed: Set<ContentHash> = []
    /// In a row.
    private var failures = 0
    /// Nothing is tried before.
    private var rest: ContinuousClock.Instant?
    private var alarm: Task<Void, Never>?

    /// Less than `AssetDownloads` brings at the same time: who reads does not wait for what is pinned.
    private static let width = 2
    /// In a row: then the server is not there, rather than the files.
    private static let patience = 4
    private static let backoff = Backoff(first: .seconds(2), longest: .seconds(300))

    package init(
        store: RecordStore, downloads: AssetDownloads, logger: Logger,
        mayBring: @escaping @Sendable () -> Bool = { true },
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.store = store
        self.downloads = downloads
        self.logger = logger
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
            while !Task.isCancelled, isDue, await bringNext() {}
        }
        alarm?.cancel()
    }

    private var isDue: Bool { mayBring() && (rest.map { $0 <= .now } ?? true) }

    /// Brings some of what is missing; false when there is nothing more to try now.
    private func bringNext() async -> Bool {
        let missing: [AssetEntry]
        do throws(RecordError) {
            missing = try store.missingPinnedAssets(limit: Self.width, except: failed)
        } catch {
            logger.warning("What is pinned cannot be listed", metadata: ["why": "\(error)"])
            takeRest()
            return false
        }
        guard !missing.isEmpty else {
            if !failed.isEmpty { takeRest() }
            failed = []
            return false
        }
        await withDiscardingTaskGroup { group in
            for asset in missing { group.addTask { await self.bring(asset) } }
        }
        if failures >= Self.patience { takeRest() }
        return true
    }

    private func bring(_ asset: AssetEntry) async {
        guard let hash = asset.hash else { return }
        do throws(RecordError) {
            try await downloads.bring(asset)
            failures = 0
            rest = nil
        } catch {
            failed.insert(hash)
            failures += 1
            logger.debug(
                "A pinned file did not come",
                metadata: ["file": "\(asset.fileName)", "why": "\(error)"])
        }
    }

    /// Says when to go on.
    private func takeRest() {
        let wait = Self.backoff.wait(failures: max(failures / Self.patience, 1), jitter: jitter())
        rest = .now + wait
        alarm?.cancel()
        alarm = Task { [waker] in
            do {
                try await Task.sleep(for: wait)
                waker.yield()
            } catch {
                // A later one counts, or none.
            }
        }
    }
}
