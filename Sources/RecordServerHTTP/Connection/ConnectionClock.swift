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
    /// The time by which an answer has to begin.
    private(set) var answerDeadline: NIODeadline?
    /// The next look at what the client takes of its answers.
    private(set) var lookDeadline: NIODeadline?
    private var lastProgress = NIODeadline.distantPast
    private var bodyStart = NIODeadline.distantPast
    private var bodyBytes = 0

    init(limits: HTTPLimits, now: NIODeadline) {
        self.limits = limits
        readDeadline = now + .seconds(Int64(limits.headerSeconds))
    }

    var next: NIODeadline? {
        [readDeadline, answerDeadline, lookDeadline].compactMap { $0 }.min()
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
        answerDeadline = nil
        if lookDeadline == nil { noteProgress(now) }
    }

    /// Notes that the client received more of its answers.
    mutating func noteProgress(_ now: NIODeadline) {
        lastProgress = now
        lookAgain(now)
    }

    /// Looks several times in the time that a client has, so that it gets little more than that.
    mutating func lookAgain(_ now: NIODeadline) {
        lookDeadline = now + .milliseconds(Int64(limits.writeIdleSeconds) * 250)
    }

    mutating func stopLooking() { lookDeadline = nil }

    /// Indicates whether the client has taken nothing for as long as it may.
    func isStalled(_ now: NIODeadline) -> Bool {
        now - lastProgress >= .seconds(Int64(limits.writeIdleSeconds))
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
        lookDeadline = nil
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
