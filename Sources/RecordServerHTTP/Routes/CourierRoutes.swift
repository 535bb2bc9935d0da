import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
package import RecordServerCore
import RecordWire
import Synchronization

/// Adds `GET /courier/{secret}`, the long poll of the webcourier URLs, which needs no credential
/// except the URL (Protocol, "Subscriptions and push").
package func addCourierRoutes(to routes: inout RouteTable, push: PushHub) {
    // HEAD would take a frame out of the queue and lose it.
    routes.on("/courier/{secret}", .get, answersHead: false) { request, context in
        context.facts.note { $0.endpoint = "courier" }
        let secret = Text(context.parameters["secret"] ?? "")
        switch try await push.poll(secret: secret, now: context.now) {
        case .frame(let frame):
            let delivery = CourierDelivery(frame, secret: secret, push: push)
            let type =
                request.prefersMinimal ? "application/json" : "application/json; charset=utf-8"
            return Response(status: .ok, headers: [.contentType: type], body: delivery.body)
        case .empty: return Response(status: .ok)
        case .gone:
            throw ServerError(
                .notFound, "This courier has expired: ask tokens/create for another.")
        }
    }
}

/// A frame on its way to a client. A frame that the connection does not accept is put back into the
/// queue.
private final class CourierDelivery: Sendable {
    private let frame: [UInt8]
    private let secret: Text
    private let push: PushHub
    private let isDone = Atomic<Bool>(false)

    init(_ frame: [UInt8], secret: Text, push: PushHub) {
        self.frame = frame
        self.secret = secret
        self.push = push
    }

    deinit {
        guard !isDone.load(ordering: .acquiring) else { return }
        let (push, frame, secret) = (push, frame, secret)
        Task { await push.giveBack(frame, secret: secret) }
    }

    var body: ResponseBody {
        ResponseBody(contentLength: frame.count) { writer in
            try await writer.write(ByteBuffer(bytes: self.frame))
            try await writer.finish(nil)
            self.isDone.store(true, ordering: .releasing)
        }
    }
}
