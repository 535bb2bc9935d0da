import NIOCore

/// The deadlines of one connection.
struct ConnectionClock {
    /// The next step that the client is expected to take.
    enum Reading: Equatable {
        /// The client begins a request.
        case idle
        /// The client ends the header that it began.
        case header
        /// The client ends the body of an operation.
        case body
        /// The client sends more of an upload.
        case upload
    }

    private let limits: HTTPLimits
    private(set) var reading = Reading.idle
    /// The number of requests whose answer has not ended.
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

    /// Indicates whether the request that is being read is the only one that waits for an answer.
    /// While earlier ones wait, it is not the client's fault that nothing is read.
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
        // An upload may take hours, but not with single bytes at long intervals.
        let seconds = (now - bodyStart).nanoseconds / 1_000_000_000
        let isFastEnough = seconds < 60 || bodyBytes / Int(seconds) >= Self.slowestUpload
        if reading == .upload, isFastEnough { updateReading(now) }
    }

    /// The slowest speed of an upload, in bytes a second.
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

    /// Notes that the client received more of the answer.
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
