package import RecordModel
package import RecordStore
import RecordWire

/// Downloads the bytes of assets that only the server has, when they are read.
///
/// Each asset is downloaded once, from its first byte to its last, for all its readers. A read far
/// beyond the last byte received requests its own range. Downloaded bytes stay in the store.
package actor AssetDownloads {
    /// A read that begins more than this many bytes beyond the last byte received does not wait for
    /// the bytes between.
    private static let reach: Int64 = 8 << 20
    /// A download that nobody has read for so long is stopped.
    private static let patience = Duration.seconds(30)
    /// The number of downloads at the same time. Others wait for their turn.
    private static let width = 4
    /// The number of failures in a row, without a byte received, after which a download fails.
    /// `waits` are the pauses between the attempts. They are long enough for the restart of a
    /// server.
    private static let attempts = 3
    private static let waits = [Duration.milliseconds(200), .seconds(1)]

    /// The exchanges, one for each database.
    private let exchanges: [Exchange]
    private let store: RecordStore
    private let transport: any SyncTransport
    private var downloads: [ContentHash: AssetDownload] = [:]
    private var queue: [AssetDownload] = []
    private var running = 0
    /// All tasks that are running.
    private var tasks: [Int: Task<Void, Never>] = [:]
    private var taskNumber = 0
    private var hasEnded = false

    package init(_ exchange: Exchange) {
        self.init([exchange], store: exchange.store, transport: exchange.transport)
    }

    /// - Parameter exchanges: the exchanges of one account, one for each database.
    package init(_ exchanges: [Exchange], store: RecordStore, transport: any SyncTransport) {
        self.exchanges = exchanges
        self.store = store
        self.transport = transport
    }

    /// Returns at most `count` bytes from `offset` on; fewer at the end of the asset.
    ///
    /// Errors: unavailable when the server cannot be reached, or now has other bytes; corrupt when
    /// the server sends other bytes; noSpace.
    package func read(
        _ asset: AssetEntry, offset: Int64, count: Int
    ) async throws(RecordError) -> [UInt8] {
        guard let hash = asset.hash else { throw Self.neverStored }
        let end = min(asset.size, offset + Int64(count))
        guard offset < end else { return [] }
        guard !hasEnded else { throw Self.stopped }
        let download = try download(asset, hash)
        if !download.has(upTo: end) {
            if offset > download.received + Self.reach {
                let box = ResultBox<Result<[UInt8], RecordError>>()
                await run { box.put(await self.range(asset, hash, offset..<end)) }.value
                return try box.take().get()
            }
            try await download.wait(upTo: end)
        }
        return try download.read(offset: offset, count: Int(end - offset))
    }

    /// Downloads the whole asset. Returns when all of it is in the store.
    ///
    /// Errors: those of `read`.
    package func bring(_ asset: AssetEntry) async throws(RecordError) {
        guard let hash = asset.hash else { throw Self.neverStored }
        guard !hasEnded else { throw Self.stopped }
        try await download(asset, hash).waitForEnd()
    }

    private static let neverStored = RecordError(
        .unavailable, "its bytes have never been stored anywhere")
    private static let stopped = RecordError(
        .interrupted, "the exchange with the server has ended")

    /// Stops all downloads. Returns when nothing uses the store any more and nothing will use it.
    package func stop() async {
        hasEnded = true
        for download in queue { end(download, .failure(Self.stopped), wasRunning: false) }
        queue = []
        for task in tasks.values { task.cancel() }
        for task in tasks.values { await task.value }
    }

    private func run(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        taskNumber += 1
        let number = taskNumber
        let task = Task {
            await body()
            self.tasks[number] = nil
        }
        tasks[number] = task
        return task
    }

    // MARK: Whole assets

    private func download(
        _ asset: AssetEntry, _ hash: ContentHash
    ) throws(RecordError) -> AssetDownload {
        if let download = downloads[hash] { return download }
        let download = try AssetDownload(
            asset, hash, path: store.assets.pathForUnfinishedAsset())
        downloads[hash] = download
        queue.append(download)
        startNext()
        return download
    }

    private func startNext() {
        while running < Self.width, !queue.isEmpty {
            let download = queue.removeFirst()
            running += 1
            _ = run {
                let ending: Result<Void, RecordError>
                do throws(RecordError) {
                    try await self.bring(download)
                    ending = .success(())
                } catch {
                    ending = .failure(error)
                }
                await self.end(download, ending, wasRunning: true)
            }
        }
    }

    private func end(
        _ download: AssetDownload, _ ending: Result<Void, RecordError>, wasRunning: Bool
    ) {
        downloads[download.hash] = nil
        download.end(ending)
        guard wasRunning else { return }
        running -= 1
        if !hasEnded { startNext() }
    }

    private nonisolated func bring(_ download: AssetDownload) async throws(RecordError) {
        var failures = 0
        while !download.isWhole {
            let before = download.received
            do throws(SyncProblem) {
                let url = try await address(of: download.asset, download.hash)
                try await transport.download(
                    url, from: before, count: download.asset.size - before
                ) { (bytes) throws(RecordError) in
                    try download.append(bytes)
                    return download.idle < Self.patience
                }
                guard download.idle < Self.patience else {
                    throw .store(RecordError(.interrupted, "nobody reads it any more"))
                }
            } catch {
                failures = download.received > before ? 1 : failures + 1
                guard error.isUnanswered, failures < Self.attempts, !Task.isCancelled else {
                    throw RecordError(fetching: error)
                }
                try await pause(Self.waits[failures - 1])
            }
        }
        guard download.isRight else {
            throw RecordError(.corrupt, "the server has sent other bytes than were stored")
        }
        _ = try store.assets.adoptAsset(file: download.path)
        try store.write(author: .sync) { (transaction) throws(RecordError) in
            try transaction.assets.setDownloaded(download.hash)
        }
        // The bytes may belong to a share that has ended in the meantime.
        try store.upkeep.scrub()
    }

    private nonisolated func pause(_ duration: Duration) async throws(RecordError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw Self.stopped
        }
    }

    // MARK: Ranges

    private nonisolated func range(
        _ asset: AssetEntry, _ hash: ContentHash, _ range: Range<Int64>
    ) async -> Result<[UInt8], RecordError> {
        let box = BytesBox()
        let count = range.upperBound - range.lowerBound
        do throws(SyncProblem) {
            let url = try await address(of: asset, hash)
            try await transport.download(url, from: range.lowerBound, count: count) {
                (bytes) throws(RecordError) in
                box.append(bytes) < count
            }
        } catch {
            return .failure(RecordError(fetching: error))
        }
        let bytes = box.bytes
        guard bytes.count == count else {
            return .failure(
                RecordError(.unavailable, "the server has sent \(bytes.count) of \(count) bytes"))
        }
        return .success(bytes)
    }

    /// Returns the current address of the bytes on the server, from one of the records that contain
    /// them.
    private nonisolated func address(
        of asset: AssetEntry, _ hash: ContentHash
    ) async throws(SyncProblem) -> String {
        for exchange in exchanges {
            if let url = try await address(of: asset, hash, in: exchange) { return url }
        }
        throw .store(
            RecordError(
                .unavailable,
                "the server now has other bytes, or none: the next sync fetches them"))
    }

    private nonisolated func address(
        of asset: AssetEntry, _ hash: ContentHash, in exchange: Exchange
    ) async throws(SyncProblem) -> String? {
        for (zone, holders) in try exchange.assets.holders(of: hash) {
            let request = LookupRequest(
                items: holders.map {
                    LookupRequest.Item(name: $0.record, desiredKeys: [$0.field])
                }, zone: ZoneIdentifier(zone))
            for case .record(let record) in try await exchange.lookUp(request) {
                for known in record.assets where known.size == asset.size {
                    if try exchange.assets.isSame(known, hash), let url = known.address {
                        return url
                    }
                }
            }
        }
        return nil
    }
}

extension RecordError {
    /// The error for a reader of a file.
    fileprivate init(fetching problem: SyncProblem) {
        if case .store(let error) = problem {
            self = error
        } else {
            self.init(.unavailable, "\(problem)")
        }
    }
}
