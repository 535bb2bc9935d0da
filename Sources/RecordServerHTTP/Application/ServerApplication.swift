package import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
package import RecordModel
package import RecordServerCore
package import RecordServerTLS
import RecordWire

/// A whole record server over a storage: operations, pages, assets, long polls.
package struct ServerApplication: Sendable {
    package let configuration: ServerConfiguration
    package let service: RecordService
    package let authenticator: Authenticator
    package let clock: any WallClock
    package let logger: Logger
    let tls: TLSContext?
    package let metrics: ServerMetrics
    let root: RootResponder

    /// Makes a server. `seal` outlives the process: see `SealKey`. All processes over one storage
    /// share `links`.
    package init(
        configuration: ServerConfiguration, storage: any Storage, assets: any AssetStore,
        seal: Seal, clock: any WallClock, logger: Logger, tls: TLSContext? = nil,
        links: ServerLinks = .inProcess()
    ) {
        let push = PushHub(
            storage: storage, settings: configuration.push, signals: links.couriers)
        service = RecordService(
            storage: storage, assets: assets, seal: seal,
            settings: configuration.service, push: push, throttles: links.throttles)
        authenticator = Authenticator(
            storage: storage, seal: seal, settings: configuration.effectiveAccounts)
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.tls = tls
        var routes = RouteTable()
        OperationRoutes(
            service: service, authenticator: authenticator,
            bodies: BodyReader(
                maximumBytes: configuration.limits.bodyBytes,
                maximumAnonymousBytes: configuration.limits.anonymousBodyBytes),
            memory: MemoryBudget(
                bytes: configuration.limits.memoryBytes, onReturned: ProcessMemory.trim),
            limits: OperationLimiter(configuration.rates, links.throttles)
        ).add(to: &routes)
        let metrics = ServerMetrics()
        self.metrics = metrics
        OperationalRoutes(service: service, metrics: metrics, configuration: configuration)
            .add(to: &routes)
        let pages = Pages(
            service: service, authenticator: authenticator, throttles: links.throttles,
            site: configuration.site, metrics: metrics, logger: logger)
        PageRoutes(pages) { context in
            PageClient(
                baseURL: context.baseURL, address: context.clientAddress,
                requestID: context.requestID, now: context.now)
        }.add(to: &routes)
        addAssetRoutes(to: &routes, service: service)
        addCourierRoutes(to: &routes, push: push)
        root = RootResponder(
            routes: routes, configuration: configuration, clock: clock,
            logger: logger, observer: RequestObserver(logger: logger, metrics: metrics))
    }

    /// Returns the answer to one request, handled by the whole server except the socket.
    package func respond(
        _ method: HTTPRequest.Method, _ pathAndQuery: String, headers: HTTPFields = [:],
        body: [UInt8] = [], peer: String = "127.0.0.1"
    ) async throws -> HTTPAnswer {
        var headers = headers
        if !body.isEmpty { headers[.contentLength] = String(body.count) }
        let request = Request(
            head: HTTPRequest(
                method: method, scheme: "http", authority: configuration.authority,
                path: pathAndQuery, headerFields: headers),
            body: RequestBody(buffer: ByteBuffer(bytes: body)))
        let response = await root.respond(to: request, peer: peer, isTLS: false)
        let collector = BodyCollector()
        try await response.body.write(BodyCollectingWriter(collector: collector))
        return HTTPAnswer(
            status: response.status.code, headers: response.headers, body: collector.bytes)
    }
}

/// An answer as a client would have received it.
package struct HTTPAnswer: Sendable {
    package let status: Int
    package let headers: HTTPFields
    package let body: [UInt8]
}
