import NIOCore

/// The times of one connection: by when what has to have happened.
struct ConnectionClock {
    /// What the client is expected to do next.
    enum Reading: Equatable {
        /// Begin a request.
        case idle
        /// End the header that it began.
        case header
        /// End the body of an operation.
        case body
        /// Send more of an upload.
        case upload
    }

    private let limits: HTTPLimits
    private(set) var reading = Reading.idle
    /// Requests whose answer has not ended.
    private(set) var unanswered = 0
    private(set) var isAnswering = false
    private(set) var readDeadline: NIODeadline?
    private(set) var answerDeadline: NIODeadline?
    private var bodyStart = NIODeadline.distantPast
    private var bodyBytes = 0

    init(limits: HTTPLimits, now: NIODeadline) {
        self.limits = limits
        readDeadline = now + .seconds(Int64(limits.headerSeconds))
    }

    var next: NIODeadline? {
        [readDeadline, answerDeadline].compactMap { $0 }.min()
    }

    /// Whether the request that is being read is the only one that waits for an answer; while
    /// earlier ones wait, it is not the client's fault that nothing is read.
    private var readsOldest: Bool {
        unanswered == (reading == .body || reading == .upload ? 1 : 0)
    }

    mutating func bytesArrived(_ now: NIODeadline) {
        guard reading == .idle else { return }
        reading = .header
        updateReading(now)
    }

    mutating func headArrived(isUpload: Bool, _ now: NIODeadline) {
        unanswered += 1
        reading = isUpload ? .upload : .body
        bodyStart = now
        bodyBytes = 0
        updateReading(now)
    }

    mutating func bodyArrived(_ bytes: Int, _ now: NIODeadline) {
        bodyBytes += bytes
        // An upload may take hours, but not by a byte now and then.
        let seconds = (now - bodyStart).nanoseconds / 1_000_000_000
        let isFastEnough = seconds < 60 || bodyBytes / Int(seconds) >= Self.slowestUpload
        if reading == .upload, isFastEnough { updateReading(now) }
    }

    /// In bytes a second.
    private static let slowestUpload = 256

    mutating func requestEnded(_ now: NIODeadline) {
        reading = .idle
        readDeadline = nil
        if unanswered == 1, !isAnswering { expectAnswer(now) }
    }

    mutating func answerBegan(_ now: NIODeadline) {
        isAnswering = true
        noteProgress(now)
    }

    /// More of the answer was taken by the client.
    mutating func noteProgress(_ now: NIODeadline) {
        answerDeadline = now + .seconds(Int64(limits.writeIdleSeconds))
    }

    mutating func answerEnded(_ now: NIODeadline) {
        isAnswering = false
        unanswered -= 1
        answerDeadline = nil
        if unanswered > 0, !readsOldest || reading == .idle { expectAnswer(now) }
        updateReading(now)
    }

    mutating func stop(at deadline: NIODeadline) {
        readDeadline = deadline
        answerDeadline = nil
    }

    private mutating func expectAnswer(_ now: NIODeadline) {
        answerDeadline = now + .seconds(Int64(limits.answerSeconds))
    }

    private mutating func updateReading(_ now: NIODeadline) {
        guard readsOldest else {
            readDeadline = nil
            return
        }
        let seconds =
            switch reading {
            case .idle: limits.keepAliveSeconds
            case .header: limits.headerSeconds
            case .body: limits.bodySeconds
            case .upload: limits.uploadIdleSeconds
            }
        readDeadline = now + .seconds(Int64(seconds))
    }
}
