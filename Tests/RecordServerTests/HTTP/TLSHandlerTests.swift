import NIOCore
import NIOEmbedded
import RecordServerTLS
import TestSupport
import Testing

@Suite("TLS of a connection") struct TLSHandlerTests {
    private let files: TemporaryDirectory
    private let context: TLSContext

    init() async throws {
        files = try TemporaryDirectory()
        let (certificate, key) = (files.path + "/cert.pem", files.path + "/key.pem")
        try await makeCertificate("tls.example.org", certificate, key)
        context = try TLSContext(certificatePath: certificate, keyPath: key)
    }

    @Test(
        "content goes both ways, also when the bytes arrive one by one", arguments: [1, 7, 4_096])
    func bothWays(_ piece: Int) throws {
        let wire = try Wire(context)
        wire.client.write([])
        try wire.run(pieces: piece)
        #expect(wire.client.isConnected)
        let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        wire.client.write(large)
        try wire.run(pieces: piece)
        #expect(wire.server.content == large)
        wire.channel.writeAndFlush(ByteBuffer(bytes: large), promise: nil)
        #expect(try wire.run(pieces: piece) == large)
    }

    @Test("what is written before the handshake arrives after it, and then the end")
    func earlyWrites() throws {
        let wire = try Wire(context)
        wire.channel.writeAndFlush(ByteBuffer(string: "refused"), promise: nil)
        wire.channel.close(mode: .output, promise: nil)
        #expect(wire.closes.modes.isEmpty)
        #expect(try wire.run() == Array("refused".utf8))
        #expect(wire.client.sawEnd)
        #expect(wire.closes.modes == [.output])
    }

    @Test("writes keep their order and their promises, also those that writing causes")
    func order() throws {
        let wire = try Wire(context)
        try wire.run()
        var expected: [UInt8] = []
        var kept: [Int] = []
        wire.closes.onNextWrite = { [channel = wire.channel] in
            channel.writeAndFlush(ByteBuffer(string: "last"), promise: nil)
        }
        for (index, size) in [3, 16_000, 0, 500, 40_000, 1].enumerated() {
            let part = [UInt8](repeating: UInt8(index), count: size)
            expected += part
            let promise = wire.channel.eventLoop.makePromise(of: Void.self)
            promise.futureResult.assumeIsolated().whenSuccess { kept.append(index) }
            wire.channel.write(ByteBuffer(bytes: part), promise: promise)
        }
        wire.channel.flush()
        #expect(try wire.run() == expected + Array("last".utf8))
        #expect(kept == [0, 1, 2, 3, 4, 5])
    }

    @Test("what was not flushed is not sent")
    func unflushed() throws {
        let wire = try Wire(context)
        try wire.run()
        wire.channel.write(ByteBuffer(string: "one"), promise: nil)
        wire.channel.flush()
        wire.channel.write(ByteBuffer(string: "two"), promise: nil)
        #expect(try wire.run() == Array("one".utf8))
        wire.channel.flush()
        #expect(try wire.run() == Array("two".utf8))
    }

    @Test("a client that ends its side still gets its answer")
    func halfClosed() throws {
        let wire = try Wire(context)
        wire.client.write(Array("question".utf8))
        try wire.run()
        wire.client.write(Array("question".utf8))
        wire.client.end()
        try wire.run()
        #expect(wire.server.content == Array("question".utf8))
        #expect(wire.server.ends == 1)
        // The end of the socket's input comes after that of TLS, and is no other.
        wire.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(wire.server.ends == 1)
        wire.channel.writeAndFlush(ByteBuffer(string: "answer"), promise: nil)
        wire.channel.close(mode: .output, promise: nil)
        #expect(try wire.run() == Array("answer".utf8))
        #expect(wire.client.sawEnd)
    }

    @Test("the server reads on after it has ended its own side")
    func readsAfterEnd() throws {
        let wire = try Wire(context)
        try wire.run()
        wire.channel.close(mode: .output, promise: nil)
        var failed = false
        wire.channel.writeAndFlush(ByteBuffer(string: "late")).assumeIsolated().whenFailure { _ in
            failed = true
        }
        #expect(failed)
        wire.client.write(Array("rest".utf8))
        try wire.run()
        #expect(wire.server.content == Array("rest".utf8))
    }

    @Test("a client learns of the end of a connection")
    func end() throws {
        let wire = try Wire(context)
        try wire.run()
        wire.channel.close(mode: .all, promise: nil)
        try wire.run()
        #expect(wire.client.sawEnd && !wire.client.hasFailed)
        #expect(wire.closes.modes == [.all])
    }

    @Test("what is no TLS ends the connection with an alert", arguments: [true, false])
    func noTLS(_ isLate: Bool) throws {
        let wire = try Wire(context)
        if isLate { try wire.run() }
        try wire.arrive(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(wire.closes.modes == [.all])
        #expect(wire.server.errors == 1)
        #expect(wire.closes.bytes.isEmpty != isLate)
        #expect(throws: ChannelError.self) {
            try wire.channel.writeAndFlush(ByteBuffer(string: "more")).wait()
        }
    }

    @Test("a client may ask for new keys, but not without end")
    func newKeys() throws {
        let wire = try Wire(context)
        try wire.run()
        for _ in 0..<5_000 {
            wire.client.askForKeys()
            wire.client.write([1])
            try wire.run()
        }
        #expect(wire.server.content.count == 5_000 && wire.closes.modes.isEmpty)
        for _ in 0..<5_000 {
            wire.client.askForKeys()
            try wire.run()
        }
        #expect(wire.closes.modes == [.all] && wire.server.errors == 1)
    }

    @Test("a client that leaves during the handshake leaves nothing")
    func leavesEarly() throws {
        let wire = try Wire(context)
        _ = wire.client.read()
        try wire.arrive(Array(wire.client.take().prefix(20)))
        wire.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(wire.closes.modes == [.all])
    }

    @Test("HTTP/1.1 is chosen when it is offered, and no other protocol hinders")
    func protocols() throws {
        let both = try Wire(context, protocols: Array("\u{2}h2\u{8}http/1.1".utf8))
        try both.run()
        #expect(both.client.isConnected && both.client.chosenProtocol == "http/1.1")
        let other = try Wire(context, protocols: Array("\u{2}h2".utf8))
        try other.run()
        #expect(other.client.isConnected && other.client.chosenProtocol.isEmpty)
    }
}

/// A client and a server, and the wire between them.
private final class Wire {
    let client: TLSClient
    let channel = EmbeddedChannel()
    let closes = Closes()
    let server = Received()

    init(_ context: TLSContext, protocols: [UInt8] = []) throws {
        client = try TLSClient(protocols: protocols)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandlers([closes, try TLSHandler(context), server])
    }

    /// Carries bytes both ways until none are left. Returns the content that the client got.
    @discardableResult
    func run(pieces: Int = 1_000_000) throws -> [UInt8] {
        var content: [UInt8] = []
        while true {
            content += client.read()
            let (up, down) = (client.take(), closes.take())
            if up.isEmpty, down.isEmpty { return content }
            for start in stride(from: 0, to: up.count, by: pieces) {
                try arrive(Array(up[start..<min(up.count, start + pieces)]))
            }
            for start in stride(from: 0, to: down.count, by: pieces) {
                client.receive(Array(down[start..<min(down.count, start + pieces)]))
                content += client.read()
            }
        }
    }

    func arrive(_ bytes: [UInt8]) throws {
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
    }
}

/// Stands for the socket.
private final class Closes: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var modes: [CloseMode] = []
    var bytes: [UInt8] = []
    var onNextWrite: (() -> Void)?

    func write(
        context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
        bytes += unwrapOutboundIn(data).readableBytesView
        promise?.succeed()
        let next = onNextWrite
        onNextWrite = nil
        next?()
    }

    func close(
        context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
    ) {
        modes.append(mode)
        promise?.succeed()
    }

    func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }
}

/// Keeps everything that handlers behind TLS see.
private final class Received: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var content: [UInt8] = []
    var ends = 0
    var errors = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        content += unwrapInboundIn(data).readableBytesView
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { ends += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { errors += 1 }
}
