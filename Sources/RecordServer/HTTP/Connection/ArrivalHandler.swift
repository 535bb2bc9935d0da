import NIOCore

/// Tells the gate of every piece that arrives, before it is known what it is.
final class ArrivalHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let gate: ConnectionGate

    init(_ gate: ConnectionGate) { self.gate = gate }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        gate.bytesArrived()
        context.fireChannelRead(data)
    }
}
