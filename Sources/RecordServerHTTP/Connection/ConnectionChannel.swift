import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import RecordServerTLS

/// Sets up a new connection: TLS, the parser with its limits, the gate, and the server behind it.
struct ConnectionChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Returns the most bytes that are read of a connection at once. There are fewer when there are
    /// many connections, because each has three such pieces that wait.
    private static func pieceBytes(connections: Int) -> Int {
        min(32 << 10, max(2 << 10, (2 << 20) / max(1, connections)))
    }

    let responder: Responder
    let limits: HTTPLimits
    let table: ConnectionTable
    let metrics: ServerMetrics
    let tls: TLSContext?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = channel.remoteAddress?.ipAddress ?? ""
        let (place, refused) = table.open(address)
        metrics.connectionOpened()
        channel.closeFuture.whenComplete { [table, metrics] _ in
            table.close(place)
            metrics.connectionClosed()
        }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: 1_024, initial: 2_048,
                    maximum: Self.pieceBytes(connections: metrics.openConnections)))
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            // The system's own buffer would hide for minutes what a slow client takes.
            try channel.syncOptions?.setOption(
                ChannelOptions.Types.SocketOption(
                    level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)),
                value: 128 << 10)
            if let tls {
                try pipeline.addHandler(
                    TLSHandler(tls) { reason in
                        metrics.noteRefused("tls")
                        logger.debug(
                            "TLS failed",
                            metadata: ["reason": "\(reason)", "address": "\(address)"])
                    })
            }
            let gate = ConnectionGate(
                limits: limits, metrics: metrics, place: place, refused: refused)
            try pipeline.addHandler(ArrivalHandler(gate))
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headerBytes
            decoderLimits.maxHeaderListSize = limits.headerBytes
            decoderLimits.maxHeaderFieldCount = limits.headerFields
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false,
                withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: decoderLimits)
            try pipeline.addHandler(gate)
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: nil, logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(
                    // These marks limit the pieces that wait for their reader.
                    backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2),
                    isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
