import Glibc
import RecordModel
import RecordStore
import Synchronization

/// The bytes of one asset as they arrive, from the first to the last, in their own file.
final class AssetDownload: Sendable {
    private struct State {
        var received: Int64 = 0
        var hasher = SHA256()
        var lastRead = ContinuousClock.now
        var waiting: [Waiting] = []
        /// The number of waits so far.
        var waits = 0
        var ending: Result<Void, RecordError>?
    }

    private struct Waiting {
        let number: Int
        let end: Int64
        let continuation: CheckedContinuation<Result<Void, RecordError>, Never>
    }

    let asset: AssetEntry
    let hash: ContentHash
    /// The path of the file. It is removed when the bytes are moved into the store, or at the end
    /// of this object.
    let path: String
    private let descriptor: Int32
    private let state = Mutex(State())

    /// Creates the file. Errors: those of creating a file.
    init(_ asset: AssetEntry, _ hash: ContentHash, path: String) throws(RecordError) {
        self.asset = asset
        self.hash = hash
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw RecordError.systemCall("make \(path)", errno) }
    }

    deinit {
        unlink(path)
        close(descriptor)
    }

    var received: Int64 { state.withLock(\.received) }
    var isWhole: Bool { received == asset.size }

    /// The time for which nobody has read from the download. Zero while somebody waits for all of
    /// it.
    var idle: Duration {
        state.withLock { state in
            let isWanted = state.waiting.contains { $0.end == .max }
            return isWanted ? .zero : state.lastRead.duration(to: .now)
        }
    }

    /// Indicates whether the bytes have the expected hash. To be read once, when all bytes have
    /// arrived.
    var isRight: Bool {
        state.withLock { state in
            var hasher = state.hasher
            return ContentHash(digest: hasher.finalize()) == hash
        }
    }

    // MARK: Receiving

    /// Adds bytes at the end.
    /// Errors: noSpace, and others of writing; invalidArgument for more bytes than the asset has.
    func append(_ bytes: [UInt8]) throws(RecordError) {
        let offset = received
        guard offset + Int64(bytes.count) <= asset.size else {
            throw RecordError(.invalidArgument, "The server sends more than the asset has.")
        }
        var done = 0
        while done < bytes.count {
            let written = bytes.withUnsafeBytes { buffer in
                pwrite(
                    descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
                    off_t(offset) + off_t(done))
            }
            if written < 0 && errno == EINTR { continue }
            guard written >= 0 else { throw RecordError.systemCall("write \(path)", errno) }
            done += written
        }
        let ready = state.withLock { state in
            state.hasher.update(bytes)
            state.received += Int64(bytes.count)
            let received = state.received
            return state.waiting.extract { $0.end <= received }
        }
        for waiting in ready { waiting.continuation.resume(returning: .success(())) }
    }

    /// Ends the download: no more bytes arrive. All waiting callers get this result.
    func end(_ ending: Result<Void, RecordError>) {
        let left = state.withLock { state in
            state.ending = ending
            return state.waiting.extract { _ in true }
        }
        for waiting in left { waiting.continuation.resume(returning: ending) }
    }

    // MARK: Reading

    /// Notes that somebody reads. Returns whether all bytes before `end` have arrived.
    func has(upTo end: Int64) -> Bool {
        state.withLock { state in
            state.lastRead = .now
            return state.received >= end
        }
    }

    /// Waits until all of it is in the store. Errors: the reason why the bytes do not arrive;
    /// interrupted, when the task is cancelled.
    func waitForEnd() async throws(RecordError) { try await wait(upTo: .max) }

    /// Waits for all bytes before `end`. Errors: the reason why they do not arrive; interrupted,
    /// when the task is cancelled.
    func wait(upTo end: Int64) async throws(RecordError) {
        let number = state.withLock { state in
            state.waits += 1
            return state.waits
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Result<Void, RecordError>? in
                    if state.received >= end { return .success(()) }
                    if let ending = state.ending { return ending }
                    if Task.isCancelled { return .failure(Self.givenUp) }
                    state.waiting.append(
                        Waiting(number: number, end: end, continuation: continuation))
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let left = state.withLock { $0.waiting.extract { $0.number == number } }
            for waiting in left { waiting.continuation.resume(returning: .failure(Self.givenUp)) }
        }
        try result.get()
    }

    private static let givenUp = RecordError(.interrupted, "nobody waits for it any more")

    /// Reads bytes that have arrived.
    func read(offset: Int64, count: Int) throws(RecordError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let read = pread(
                    descriptor, buffer.baseAddress.map { $0 + done }, count - done,
                    off_t(offset) + off_t(done))
                if read < 0 && errno == EINTR { continue }
                if read < 0 { code = errno }
                guard read > 0 else { return }
                done += read
            }
        }
        guard code == 0 else { throw RecordError.systemCall("read \(path)", code) }
        return bytes
    }
}

extension Array {
    /// Removes the elements that fit and returns them.
    fileprivate mutating func extract(_ fits: (Element) -> Bool) -> [Element] {
        let taken = filter(fits)
        removeAll(where: fits)
        return taken
    }
}
