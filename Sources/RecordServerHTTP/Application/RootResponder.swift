import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import RecordModel
import RecordServerCore
import RecordWire

/// The steps for every request, whatever its path: its ID, the checks that need no route, the
/// route, errors as JSON, the headers of all answers, the log and the metrics.
struct RootResponder: Sendable {
    let routes: RouteTable
    let configuration: ServerConfiguration
    let clock: any WallClock
    let logger: Logger
    let observer: RequestObserver

    func respond(to request: Request, peer: String, isTLS: Bool) async -> Response {
        let started = ContinuousClock.now
        let client = ClientIdentity(
            request.head, peer: peer, isTLS: isTLS, configuration: configuration)
        let context = HTTPContext(
            requestID: RequestIdentifier.make(), now: clock.now, baseURL: client.baseURL,
            clientAddress: client.address)
        let place = PathClass(request.path)
        context.facts.note { $0.endpoint = place.rawValue }
        if place == .courier { observer.metrics.pollBegan() }
        defer { if place == .courier { observer.metrics.pollEnded() } }
        let isReadable = !isTLS && !configuration.takesPlainHTTP(from: peer)
        var response =
            isReadable ? refusePlainHTTP(context) : await answer(request, context)
        AnswerHeaders.add(
            to: &response, requestID: context.requestID, now: context.now,
            isAPI: place != .page, isMinimal: request.prefersMinimal,
            offersGzip: place == .operation && request.headers[.contentEncoding] == nil)
        if context.isSecure, configuration.hstsSeconds > 0 {
            response.headers[.strictTransportSecurity] = "max-age=\(configuration.hstsSeconds)"
        }
        if request.method == .head { response = response.createHeadResponse() }
        observer.note(
            request, context, status: response.status.code,
            bytesOut: response.body.contentLength, duration: ContinuousClock.now - started)
        return response
    }

    /// Refuses a request over plain HTTP. That is too late for the secrets in this request, but it
    /// stops clients from continuing this way.
    private func refusePlainHTTP(_ context: HTTPContext) -> Response {
        let error = ServerError(
            .accessDenied,
            "This server takes plain HTTP from its own machine and its proxies alone: use https.")
        context.facts.note { $0.code = error.code }
        return error.response(requestID: context.requestID)
    }

    private func answer(_ request: Request, _ context: HTTPContext) async -> Response {
        do {
            return try await route(request, context)
        } catch let refusal as HTTPRefusal {
            context.facts.note { $0.code = refusal.error.code }
            var response = refusal.error.response(
                requestID: context.requestID, status: refusal.status)
            for field in refusal.headers { response.headers[field.name] = field.value }
            return response
        } catch let error as ServerError {
            context.facts.note { $0.code = error.code }
            return error.response(requestID: context.requestID)
        } catch let refusal as ConnectionRefusal {
            context.facts.note { $0.code = refusal.code }
            return ServerError(refusal.code, refusal.reason).response(
                requestID: context.requestID,
                status: HTTPResponse.Status(code: Int(refusal.status.code)))
        } catch is HTTPParserError {
            let refusal = HTTPRefusal.badRequest("The body of the request is not HTTP.")
            context.facts.note { $0.code = refusal.error.code }
            return refusal.error.response(requestID: context.requestID)
        } catch  where error is IOError || error is ChannelError {
            // The client has ended the connection in the middle of its request. Nobody gets this
            // answer.
            let gone = HTTPRefusal.badRequest("The connection ended within the request.")
            context.facts.note { $0.code = gone.error.code }
            return gone.error.response(requestID: context.requestID)
        } catch {
            // Log the type only, because the error's text could contain content.
            logger.error("unexpected error", metadata: ["type": "\(type(of: error))"])
            context.facts.note { $0.code = .internalError }
            return ServerError(.internalError, "Something went wrong in the server.")
                .response(requestID: context.requestID)
        }
    }

    private func route(_ request: Request, _ context: HTTPContext) async throws -> Response {
        if request.method == .options { return AnswerHeaders.preflight(request) }
        guard let components = RequestPath.components(of: request.path) else {
            throw HTTPRefusal.badRequest("The path of the request is not clean.")
        }
        if let encoding = request.headers[.contentEncoding]?.lowercased(), encoding != "identity" {
            guard encoding == "gzip", PathClass(request.path) == .operation else {
                throw HTTPRefusal.encodedBody
            }
        }
        return try await routes.respond(to: request, components, context)
    }
}

/// The kind of a path, before its route is looked for.
enum PathClass: String {
    case operation, asset, courier
    /// A page for people, with cookies, so that other origins may use nothing of it.
    case page

    init(_ path: String) {
        if path.hasPrefix("/database/") || path.hasPrefix("/device/") {
            self = .operation
        } else if path.hasPrefix("/assets/") {
            self = .asset
        } else {
            self = path.hasPrefix("/courier/") ? .courier : .page
        }
    }
}
