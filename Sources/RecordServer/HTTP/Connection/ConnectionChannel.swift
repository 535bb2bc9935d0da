import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOSSL

/// Sets a new connection up: TLS, the parser with its limits, the gate, and the server behind.
struct ConnectionChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

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
            if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls.current)) }
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
                    // Parts that wait for who reads them, each of up to 64 KiB.
                    backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2),
                    isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}
