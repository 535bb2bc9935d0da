import NIOCore
import NIOExtras
import NIOHTTP1
import RecordModel
import RecordServerCore
import RecordWire

/// The handler between the parser and the server. It refuses requests that are not clean, keeps the
/// deadlines of the connection, and ends it so that the client still gets its last answer.
final class ConnectionGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        case open
        /// Further input is ignored. Answers to earlier requests are still sent, then this refusal.
        case refusing(ConnectionRefusal)
        /// The last answer is sent, and the connection waits for the client to close.
        case ending
    }

    /// The time that a client has for reading its last answer.
    private static let endTime = TimeAmount.seconds(2)
    /// The most bytes that a client may still send after its last answer.
    private static let endBytes = 8 << 20

    private let limits: HTTPLimits
    private let metrics: ServerMetrics
    private let place: ConnectionPlace
    private let refused: RefusedConnection?
    /// The present state of waiting, and since when.
    private var waiting = ConnectionPlace.Waiting.none
    private var waitingStart = NIODeadline.now()
    private var hasAnswered = false
    private var clock: ConnectionClock
    private var state = State.open
    /// Indicates whether the connection closes after the answer that is being written.
    private var closesAfterAnswer = false
    /// The number of answers up to the one after which the client wants the end.
    private var answersBeforeEnd: Int?
    /// The last request was HEAD, whose answer has no body.
    private var isHead = false
    private var timer: Scheduled<Void>?
    private var timerDeadline = NIODeadline.distantFuture
    private var context: ChannelHandlerContext?
    /// The bytes of answers: those handed on in all, and those that the client had received at the
    /// last look.
    private var bytesWritten = 0
    private var bytesTaken = 0
    /// The bytes that arrived after the last answer.
    private var skippedBytes = 0

    init(
        limits: HTTPLimits, metrics: ServerMetrics, place: ConnectionPlace,
        refused: RefusedConnection?
    ) {
        self.limits = limits
        self.metrics = metrics
        self.place = place
        self.refused = refused
        clock = ConnectionClock(limits: limits, now: .now())
    }

    // MARK: Life

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        place.onShed(nil)
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        let gate = NIOLoopBound(self, eventLoop: context.eventLoop)
        place.onShed { gate.eventLoop.execute { gate.value.shed() } }
        if let refused {
            metrics.noteRefused(refused.rawValue)
            send(.crowded, context)
        } else {
            schedule(context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent { closesAfterAnswer = true }
        if case .ending = state, event as? ChannelEvent == .inputClosed {
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Requests

    /// Notes that something arrived. Its content follows later.
    func bytesArrived() {
        guard case .open = state, let context else { return }
        clock.bytesArrived(.now())
        schedule(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .open = state else { return skip(data, context) }
        switch unwrapInboundIn(data) {
        case .head(let head): readHead(head, context)
        case .body(let buffer):
            clock.bodyArrived(buffer.readableBytes, .now())
            context.fireChannelRead(data)
        case .end:
            clock.requestEnded(.now())
            schedule(context)
            context.fireChannelRead(data)
        }
    }

    private func skip(_ data: NIOAny, _ context: ChannelHandlerContext) {
        guard case .body(let buffer) = unwrapInboundIn(data) else { return }
        skippedBytes += buffer.readableBytes
        if skippedBytes > Self.endBytes { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // The handlers behind this one do not read any more, but unread bytes would make the kernel
        // reset the connection, and the client would lose its answer.
        if case .ending = state { context.read() }
    }

    private func readHead(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        isHead = head.method == .HEAD
        let check = RequestHeadCheck(head)
        if let refusal = check.refusal {
            refuse(refusal, context)
            return
        }
        var head = check.head
        if let expectation = head.headers.first(name: "Expect") {
            guard expectation.lowercased() == "100-continue" else {
                refuse(ConnectionRefusal(.expectationFailed, "Expect is unknown."), context)
                return
            }
            if clock.unanswered == 0, fits(head) { sendContinue(context) }
        }
        head.headers.remove(name: "Expect")
        clock.headArrived(isUpload: head.uri.hasPrefix("/assets/up/"), .now())
        let isLast = head.headers[canonicalForm: "Connection"].contains {
            $0.lowercased() == "close"
        }
        if isLast || head.version == .http1_0 || head.headers.contains(name: "Upgrade") {
            // The parser reads nothing after the last request, nor after one that asks for another
            // protocol.
            answersBeforeEnd = clock.unanswered
        }
        schedule(context)
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    /// Returns whether the server may ask for the body. A large body is refused by its length.
    private func fits(_ head: HTTPRequestHead) -> Bool {
        guard let length = head.headers.first(name: "Content-Length").flatMap({ Int($0) }) else {
            return true
        }
        return length <= limits.bodyBytes || head.uri.hasPrefix("/assets/up/")
    }

    private func sendContinue(_ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard case .open = state else { return }
        guard let error = error as? HTTPParserError else {
            context.fireErrorCaught(error)
            return
        }
        if case .body = clock.reading { return failBody(error, context) }
        if case .upload = clock.reading { return failBody(error, context) }
        // What follows the last request is no request.
        if answersBeforeEnd != nil { return }
        switch error {
        case .invalidEOFState: context.close(promise: nil)
        case .headerOverflow: refuse(.largeHeader, context)
        default: refuse(.bad("This is no request of HTTP/1.1."), context)
        }
    }

    /// Passes the error to the route that reads the body, which answers. The connection ends after
    /// that.
    private func failBody(_ error: any Error, _ context: ChannelHandlerContext) {
        closesAfterAnswer = true
        clock.stop(at: .now() + Self.endTime)
        schedule(context)
        context.fireErrorCaught(error)
    }

    // MARK: Answers

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        if case .ending = state {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if clock.reading == .body || clock.reading == .upload, clock.unanswered == 1 {
                // The answer came before the end of the body, so the rest of the body is not
                // wanted.
                closesAfterAnswer = true
            }
            if answersBeforeEnd == 1 { closesAfterAnswer = true }
            if closesAfterAnswer { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            clock.answerBegan(.now())
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body(let body):
            if case .byteBuffer(let buffer) = body { bytesWritten += buffer.readableBytes }
            context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            answerEnded(context)
        }
        schedule(context)
    }

    private func answerEnded(_ context: ChannelHandlerContext) {
        clock.answerEnded(.now())
        hasAnswered = true
        answersBeforeEnd = answersBeforeEnd.map { $0 - 1 }
        if case .refusing(let refusal) = state {
            if clock.unanswered == 0 { send(refusal, context) }
        } else if closesAfterAnswer, clock.unanswered == 0 || clock.reading != .idle {
            context.flush()
            end(context)
        }
    }

    // MARK: The end

    /// Refuses the request that has just begun, after the answers to the requests before it.
    private func refuse(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
        metrics.noteRefused(String(refusal.status.code))
        guard clock.unanswered > 0 else { return send(refusal, context) }
        state = .refusing(refusal)
    }

    private func send(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
        let id = RequestIdentifier.make()
        var error = ServerError(refusal.code, refusal.reason)
        if refusal.code == .tryAgainLater { error.retryAfter = 10 }
        let body = error.body(requestID: id)
        let headers: HTTPHeaders = [
            "Content-Type": "application/json; charset=utf-8",
            "Content-Length": String(body.count), "Connection": "close",
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
            "x-apple-request-uuid": id.string, "Access-Control-Allow-Origin": "*",
        ]
        let head = HTTPResponseHead(version: .http1_1, status: refusal.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !isHead {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        end(context)
    }

    /// Sends nothing more, and waits a moment for the client to close.
    private func end(_ context: ChannelHandlerContext) {
        state = .ending
        clock.stop(at: .now() + Self.endTime)
        schedule(context)
        context.close(mode: .output, promise: nil)
        context.read()
    }

    // MARK: Time

    /// The input that the server expects from the client.
    private var expected: ConnectionPlace.Waiting {
        guard case .open = state else { return .nextRequest }
        switch clock.reading {
        case .idle:
            if clock.unanswered > 0 { return .none }
            return hasAnswered ? .nextRequest : .requestEnd
        case .header: return clock.unanswered == 0 ? .requestEnd : .none
        case .body: return clock.unanswered == 1 ? .requestEnd : .none
        // A client that may upload has proved its identity.
        case .upload: return .none
        }
    }

    private func notePlace() {
        let expected = expected
        guard expected != waiting else { return }
        waiting = expected
        waitingStart = .now()
        place.note(expected, since: waitingStart)
    }

    /// Makes room for another connection, unless something has arrived in the meantime.
    private func shed() {
        guard let context else { return }
        guard expected != .none else { return }
        metrics.noteRefused("shed")
        switch (clock.reading, state) {
        case (.body, .open): failBody(ConnectionRefusal.crowded, context)
        case (.header, .open): send(.crowded, context)
        default: context.close(promise: nil)
        }
    }

    /// Schedules the timer. Each connection has one, which moves when it fires and not with every
    /// byte.
    private func schedule(_ context: ChannelHandlerContext) {
        notePlace()
        guard let deadline = clock.next, deadline < timerDeadline else { return }
        timer?.cancel()
        timerDeadline = deadline
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timerFired()
        }
    }

    private func timerFired() {
        timerDeadline = .distantFuture
        guard let context else { return }
        let now = NIODeadline.now()
        if let deadline = clock.readDeadline, deadline <= now {
            readTimePassed(context)
        } else if let deadline = clock.answerDeadline, deadline <= now {
            metrics.noteRefused("no-answer")
            send(.noAnswer, context)
        } else if let deadline = clock.lookDeadline, deadline <= now {
            lookAtClient(context, now)
        }
        schedule(context)
    }

    private func readTimePassed(_ context: ChannelHandlerContext) {
        guard case .open = state, !closesAfterAnswer || clock.unanswered == 0 else {
            context.close(promise: nil)
            return
        }
        switch clock.reading {
        case .idle: context.close(promise: nil)
        case .header:
            metrics.noteRefused("slow")
            send(.late, context)
        case .body, .upload:
            metrics.noteRefused("slow")
            failBody(ConnectionRefusal.late, context)
        }
    }

    /// Ends the connection of a client that takes nothing of what waits for it, be it the rest of
    /// an answer or the answers to requests that it sent at once.
    private func lookAtClient(_ context: ChannelHandlerContext, _ now: NIODeadline) {
        let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        let taken = bytesWritten - waiting
        if waiting == 0, !clock.isAnswering {
            clock.stopLooking()
        } else if waiting == 0 || taken > bytesTaken {
            clock.noteProgress(now)
        } else if clock.isStalled(now) {
            metrics.noteRefused("slow-reader")
            context.close(promise: nil)
        } else {
            clock.lookAgain(now)
        }
        bytesTaken = taken
    }
}

@available(*, unavailable)
extension ConnectionGate: Sendable {}
