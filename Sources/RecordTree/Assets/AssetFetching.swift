package import RecordModel
package import RecordStore
import Synchronization

/// Downloads the bytes of assets that are not on this machine.
package protocol AssetFetcher: Sendable {
    /// Downloads a range of an asset. Calls back once, from any thread, with the bytes or with the
    /// error. Never blocks the caller.
    func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void)

    /// Downloads an asset into the store, however long it takes while bytes arrive. Calls back as
    /// `fetch`.
    ///
    /// - Returns: a function that ends the wait. It does nothing after the answer.
    func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void
}

/// The fetcher without a server: every download fails.
package struct NoAssetFetcher: AssetFetcher {
    package init() {}
    package func fetch(
        _ asset: AssetEntry, offset: Int64, count: Int,
        _ answer: @escaping @Sendable (Result<[UInt8], RecordError>) -> Void
    ) {
        answer(.failure(Self.error))
    }

    package func bring(
        _ asset: AssetEntry, _ answer: @escaping @Sendable (Result<Void, RecordError>) -> Void
    ) -> @Sendable () -> Void {
        answer(.failure(Self.error))
        return {}
    }

    private static let error = RecordError(
        .unavailable, "the bytes are not on this machine, and no server is set up to fetch them")
}

/// A call that waits for bytes. It is answered once, by the fetcher or by its deadline.
final class WaitingRead: Sendable {
    let subject: String
    let type: TypeID
    /// The uptime at which the call fails. Nil for a call that needs all bytes, however long they
    /// take.
    let deadline: Duration?
    private let answer: Mutex<DeferredAnswer?>

    init(
        subject: String, type: TypeID, deadline: Duration?,
        answer: @escaping DeferredAnswer
    ) {
        self.subject = subject
        self.type = type
        self.deadline = deadline
        self.answer = Mutex(answer)
    }

    /// Returns the right to answer to the first caller, and nil to all others.
    func take() -> DeferredAnswer? {
        answer.withLock { answer in
            defer { answer = nil }
            return answer
        }
    }
}

/// The last file of a directory that could not be read or saved, for `.error`.
struct AssetFailure: Sendable {
    enum Kind: Sendable { case unread, unsaved, unmade }

    let kind: Kind
    let subject: String
    let error: RecordError
    let since: Timestamp
}

extension Tree {
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
                guard let entry = try store.asset(open.id) else { throw Self.goneAsset }
                if entry.isDownloaded, let file = try storedContent(of: entry) {
                    open.state.withLock { if $0.file == nil { $0.file = file } }
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
    package func missingBytes(of number: NodeNumber, handle: HandleNumber?) -> DeferredCall? {
        guard let id = assetInUse(number, handle) else { return nil }
        return { [self] answer in
            do throws(RecordError) {
                guard let entry = try store.asset(id) else { throw Self.goneAsset }
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
        state.withLock { $0.waitingReads.append(waiting) }
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
        state.withLock { state in
            if let handle, case .asset(let open)? = state.handles[handle]?.current {
                return open.id
            }
            guard case .asset(let id)? = state.nodes.node(number) else { return nil }
            return id
        }
    }

    private func begin(
        _ waiting: WaitingRead, _ body: () throws(RecordError) -> Void
    ) -> Waiting {
        state.withLock { $0.waitingReads.append(waiting) }
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
        state.withLock { $0.waitingReads.removeAll { $0 === waiting } }
    }

    private func finish(_ waiting: WaitingRead, _ result: Result<ReadResult, RecordError>) {
        guard let answer = waiting.take() else { return }
        state.withLock { state in
            state.waitingReads.removeAll { $0 === waiting }
            switch result {
            case .success:
                // The arrival of another file says nothing about a file that failed.
                if state.assetFailures[waiting.type]?.subject == waiting.subject {
                    state.assetFailures[waiting.type] = nil
                }
            case .failure(let error):
                state.assetFailures[waiting.type] = AssetFailure(
                    kind: .unread, subject: waiting.subject, error: error, since: now)
            }
        }
        answer(result)
        guard case .failure(let error) = result else { return }
        events.note(failure: error, of: waiting.subject)
        notify([.content(NodeNumber(waiting.type))])
    }

    /// Notes that a file cannot be read because of the disk, or that its new content was refused.
    /// `.error`, the events and the log show the reason.
    func noteFailure(
        _ kind: AssetFailure.Kind, _ subject: String, in type: TypeID, _ error: RecordError
    ) {
        let failure = AssetFailure(kind: kind, subject: subject, error: error, since: now)
        state.withLock { $0.assetFailures[type] = failure }
        events.note(failure: error, of: subject)
        // Logs do not name files that others share, because a log outlives the share.
        let zone = try? place(of: type).zone
        options.report(
            zone?.database == .shared
                ? "A file of the zone \(zone.map { "\($0.name)" } ?? ""): \(error.code.rawValue)"
                : failure.sentence)
        notify([.content(NodeNumber(type))])
    }

    /// Forgets the failure of a file that was written again.
    func forgetFailure(of subject: String, in type: TypeID) {
        let isOver = state.withLock { state in
            guard state.assetFailures[type]?.subject == subject else { return false }
            state.assetFailures[type] = nil
            return true
        }
        if isOver { notify([.content(NodeNumber(type))]) }
    }

    /// Ends reads that have waited too long, with EIO and a reason in `.error`.
    func expireWaitingReads() {
        let uptime = options.clock.uptime
        let late = state.withLock { state in
            state.waitingReads.filter { waiting in waiting.deadline.map { $0 <= uptime } ?? false }
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
    func interruptWaitingReads() {
        for waiting in state.withLock({ $0.waitingReads }) {
            finish(waiting, .failure(RecordError(.interrupted, "the mount has ended")))
        }
    }
}
