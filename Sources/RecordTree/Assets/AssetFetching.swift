import RecordModel
import RecordStore
import Synchronization

/// Reads that wait for bytes which are not on this machine.
final class AssetFetching: Sendable {
    let assetContent: AssetContent
    let errors: ErrorReports
    let events: EventLog
    let handles: OpenHandles
    let kernel: KernelNotifier
    let nodes: Nodes
    let options: TreeOptions
    let store: RecordStore
    /// Reads of assets that wait for a download.
    private let reads = Mutex<[WaitingRead]>([])

    init(_ ground: Ground, assetContent: AssetContent) {
        self.assetContent = assetContent
        errors = ground.errors
        events = ground.events
        handles = ground.handles
        kernel = ground.kernel
        nodes = ground.nodes
        options = ground.options
        store = ground.store
    }

    /// The longest wait of a read for bytes that are not on this machine.
    static let fetchLimit: Duration = .seconds(30)

    /// Returns the answer to a read of bytes that are not on this machine. The wait occupies no
    /// worker thread.
    func fetch(_ open: OpenAsset, offset: Int64, count: Int) -> ReadResult {
        .deferred { [self] answer in
            let waiting = WaitingRead(
                subject: "\(open.stem)@\(open.place.field)", type: open.type,
                deadline: options.clock.uptime + Self.fetchLimit, answer: answer)
            return begin(waiting) { () throws(RecordError) in
                guard let entry = try store.assets.asset(open.id) else {
                    throw RecordError.goneAsset
                }
                if entry.isDownloaded, let file = try assetContent.storedContent(of: entry) {
                    open.arrive(file)
                    return finish(waiting, .success(.file(file, offset: offset, count: count)))
                }
                options.fetcher.fetch(entry, offset: offset, count: count) { [weak self] result in
                    self?.finish(waiting, result.map(ReadResult.bytes))
                }
            }
        }
    }

    /// Returns the wait of a change of an asset that failed because its bytes are not on this
    /// machine. The change can be tried again after the answer, which contains no bytes. Returns
    /// nil when there is no such asset.
    func missingBytes(of number: NodeNumber, handle: HandleNumber?) -> DeferredCall? {
        guard let id = assetInUse(number, handle) else { return nil }
        return { [self] answer in
            do throws(RecordError) {
                guard let entry = try store.assets.asset(id) else { throw RecordError.goneAsset }
                return bring(entry, answer)
            } catch {
                answer(.failure(error))
                return Waiting {}
            }
        }
    }

    private func bring(_ entry: AssetEntry, _ answer: @escaping DeferredAnswer) -> Waiting {
        let waiting = WaitingRead(
            subject: "\(entry.stem)@\(entry.field)", type: entry.type, deadline: nil, answer: answer
        )
        reads.withLock { $0.append(waiting) }
        let cancel: @Sendable () -> Void
        if entry.isDownloaded {
            finish(waiting, .success(.bytes([])))
            cancel = {}
        } else {
            cancel = options.fetcher.bring(entry) { [weak self] result in
                self?.finish(waiting, result.map { .bytes([]) })
            }
        }
        return Waiting { [weak self] in
            self?.giveUp(waiting)
            cancel()
        }
    }

    private func assetInUse(_ number: NodeNumber, _ handle: HandleNumber?) -> AssetID? {
        if let handle, let open = handles.openAsset(handle) { return open.id }
        guard case .asset(let id)? = nodes.find(number) else { return nil }
        return id
    }

    private func begin(
        _ waiting: WaitingRead, _ body: () throws(RecordError) -> Void
    ) -> Waiting {
        reads.withLock { $0.append(waiting) }
        do throws(RecordError) {
            try body()
        } catch {
            finish(waiting, .failure(error))
        }
        return Waiting { [weak self] in self?.giveUp(waiting) }
    }

    /// Ends the wait of an interrupted reader. That is no failure of the asset.
    private func giveUp(_ waiting: WaitingRead) {
        guard waiting.take() != nil else { return }
        reads.withLock { $0.removeAll { $0 === waiting } }
    }

    private func finish(_ waiting: WaitingRead, _ result: Result<ReadResult, RecordError>) {
        guard let answer = waiting.take() else { return }
        reads.withLock { $0.removeAll { $0 === waiting } }
        switch result {
        case .success: errors.forget(of: waiting.subject, in: waiting.type)
        case .failure(let error):
            errors.keep(
                AssetFailure(
                    kind: .unread, subject: waiting.subject, error: error, since: options.now),
                in: waiting.type)
        }
        answer(result)
        guard case .failure(let error) = result else { return }
        events.note(failure: error, of: waiting.subject)
        kernel.notify([.content(NodeNumber(waiting.type))])
    }

    /// Ends reads that have waited too long, with EIO and a reason in `.error`.
    func expire() {
        let uptime = options.clock.uptime
        let late = reads.withLock { reads in
            reads.filter { waiting in waiting.deadline.map { $0 <= uptime } ?? false }
        }
        for waiting in late {
            finish(
                waiting,
                .failure(
                    RecordError(
                        .timedOut,
                        "the bytes did not come within \(Self.fetchLimit); read it again later")))
        }
    }

    /// Ends all waiting reads when the mount ends.
    func interrupt() {
        for waiting in reads.withLock({ $0 }) {
            finish(waiting, .failure(RecordError(.interrupted, "the mount has ended")))
        }
    }
}
