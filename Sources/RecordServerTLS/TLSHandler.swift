package import NIOCore

/// Encrypts one connection as its server. Handlers behind it see the content alone.
///
/// Half-closed connections work as without TLS: when the client has ended its side, handlers get
/// `inputClosed`, and `close(mode: .output)` tells the client that nothing more is sent. A client
/// that ends its side without saying so is treated the same: the framing of HTTP shows whether its
/// request was complete.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private enum State {
        case handshake, open
        /// The client knows that nothing more is sent.
        case ended
        case failed
    }

    /// The most content of one record (RFC 8446, section 5.1).
    private static let recordBytes = 16 << 10
    /// The most bytes after the handshake that may bring no content, such as new keys (RFC 8446,
    /// section 4.6.3) or another handshake: more than an unfinished record, and far from a flood.
    private static let emptyBytes = 64 << 10

    private let connection: TLSConnection
    private let onFailure: (String) -> Void
    private var state = State.handshake
    private var inputIsClosed = false
    private var bytesWithoutContent = 0
    /// Writes that are not encrypted yet, and how many of them are flushed.
    private var waiting = CircularBuffer<(content: ByteBuffer, promise: EventLoopPromise<Void>?)>()
    private var flushed = 0
    private var isSending = false
    /// Wants to end the output once the handshake is done.
    private var wantsEnd = false

    /// Makes the handler of one connection. Errors: there is no memory.
    ///
    /// - Parameter onFailure: gets the reason when the connection cannot continue.
    package init(_ context: TLSContext, onFailure: @escaping (String) -> Void = { _ in }) throws {
        connection = try TLSConnection(context.current)
        self.onFailure = onFailure
    }

    // MARK: Input

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state != .failed, !inputIsClosed else { return }
        let buffer = unwrapInboundIn(data)
        do {
            try connection.receive(buffer)
            if state == .handshake { try continueHandshake(context) }
            if state != .handshake { try readContent(buffer.readableBytes, context) }
            sendOutgoing(nil, context)
        } catch { fail(error, context) }
    }

    private func continueHandshake(_ context: ChannelHandlerContext) throws(TLSFailure) {
        let isDone = try connection.handshake()
        sendOutgoing(nil, context)
        guard isDone else { return }
        state = .open
        try sendFlushed(context)
        if wantsEnd { endOutput(context) }
    }

    /// Passes on the content of what has arrived. `count` is how much that was.
    private func readContent(_ count: Int, _ context: ChannelHandlerContext) throws(TLSFailure) {
        bytesWithoutContent += count
        while state != .failed, !inputIsClosed, context.channel.isActive {
            var content = context.channel.allocator.buffer(capacity: max(256, count))
            var reading = TLSConnection.Reading.bytes
            while reading == .bytes, content.writableBytes > 0 {
                reading = try connection.read(into: &content)
            }
            if content.readableBytes > 0 {
                bytesWithoutContent = 0
                context.fireChannelRead(wrapInboundOut(content))
            }
            switch reading {
            case .bytes: continue
            case .more:
                guard bytesWithoutContent <= Self.emptyBytes else {
                    throw TLSFailure("a client sends much without content")
                }
                return
            case .ended: closeInput(context)
            }
        }
    }

    private func closeInput(_ context: ChannelHandlerContext) {
        guard !inputIsClosed else { return }
        inputIsClosed = true
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        // Nobody else would close a connection that ends before it is one.
        if state == .handshake { context.close(promise: nil) }
        closeInput(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        failWaiting(ChannelError.ioOnClosedChannel)
        state = .failed
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        failWaiting(ChannelError.ioOnClosedChannel)
    }

    // MARK: Output

    package func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        guard state == .handshake || state == .open, !wantsEnd else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        waiting.append((unwrapOutboundIn(data), promise))
    }

    package func flush(context: ChannelHandlerContext) {
        flushed = waiting.count
        do { if state == .open { try sendFlushed(context) } } catch { fail(error, context) }
        context.flush()
    }

    /// Encrypts what is flushed. Small parts, such as the head and the body of an answer, become
    /// one record. Sending may cause more writes, which wait for their turn.
    private func sendFlushed(_ context: ChannelHandlerContext) throws(TLSFailure) {
        guard !isSending else { return }
        isSending = true
        defer { isSending = false }
        while flushed > 0 {
            var (content, promise) = takeFlushed()
            while flushed > 0, let next = waiting.first,
                content.readableBytes + next.content.readableBytes <= Self.recordBytes
            {
                content.writeImmutableBuffer(next.content)
                promise = Self.both(promise, next.promise)
                _ = takeFlushed()
            }
            do { try connection.write(content) } catch {
                promise?.fail(error)
                throw error
            }
            sendOutgoing(promise, context)
        }
    }

    private func takeFlushed() -> (ByteBuffer, EventLoopPromise<Void>?) {
        flushed -= 1
        return waiting.removeFirst()
    }

    /// Returns a promise that keeps both.
    private static func both(
        _ first: EventLoopPromise<Void>?, _ second: EventLoopPromise<Void>?
    ) -> EventLoopPromise<Void>? {
        guard let first, let second else { return first ?? second }
        first.futureResult.cascade(to: second)
        return first
    }

    /// Sends what OpenSSL has for the client.
    private func sendOutgoing(
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        guard let bytes = connection.takeOutgoing(context.channel.allocator) else {
            promise?.succeed()
            return
        }
        context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
    }

    // MARK: The end

    package func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        switch mode {
        case .input: context.close(mode: .input, promise: promise)
        case .output where state == .handshake:
            wantsEnd = true
            promise?.succeed()
        case .output:
            endOutput(context, promise)
        case .all:
            if state == .open {
                state = .ended
                connection.end()
                sendOutgoing(nil, context)
            }
            context.close(mode: .all, promise: promise)
        }
    }

    private func endOutput(
        _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil
    ) {
        if state == .open {
            state = .ended
            failWaiting(ChannelError.outputClosed)
            connection.end()
            sendOutgoing(nil, context)
        }
        context.close(mode: .output, promise: promise)
    }

    /// Ends a connection that cannot continue. The client gets the alert that OpenSSL has for it.
    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        guard state != .failed else { return }
        state = .failed
        if let failure = error as? TLSFailure { onFailure(failure.reason) }
        sendOutgoing(nil, context)
        failWaiting(error)
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    private func failWaiting(_ error: any Error) {
        let failed = waiting
        waiting.removeAll()
        flushed = 0
        for write in failed { write.promise?.fail(error) }
    }
}

@available(*, unavailable)
extension TLSHandler: Sendable {}
