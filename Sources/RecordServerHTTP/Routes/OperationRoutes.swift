import HTTPTypes
import HummingbirdCore
import NIOCore
import RecordModel
import RecordServerCore
import RecordWire

/// The routes `/database/1/{container}/{environment}/{database}/{operation}` and
/// `/device/1/{container}/{environment}/{operation}`, made from the table of endpoints.
struct OperationRoutes: Sendable {
    let service: RecordService
    let authenticator: Authenticator
    let bodies: BodyReader
    let memory: MemoryBudget
    let limits: OperationLimiter

    func add(to routes: inout RouteTable) {
        for endpoint in Endpoint.allCases {
            let paths = Self.paths(of: endpoint)
            for path in paths {
                add(endpoint, path, .post, to: &routes)
                if endpoint.acceptsGet { add(endpoint, path, .get, to: &routes) }
            }
        }
    }

    /// Returns the paths of an operation. Apple's text has the device operations under
    /// `/database/1/{container}/{environment}/`, and its service has them under `/device/1/`
    /// (Protocol, "Overview").
    static func paths(of endpoint: Endpoint) -> [String] {
        let name = endpoint.rawValue
        let database = "/database/1/{container}/{environment}/{database}/\(name)"
        guard endpoint.isDevice else { return [database] }
        return [
            database, "/database/1/{container}/{environment}/\(name)",
            "/device/1/{container}/{environment}/\(name)",
        ]
    }

    private func add(
        _ endpoint: Endpoint, _ path: String, _ method: HTTPRequest.Method,
        to routes: inout RouteTable
    ) {
        routes.on(path, method) { request, context in
            try await respond(endpoint, request, context)
        }
    }

    private func respond(
        _ endpoint: Endpoint, _ request: Request, _ context: HTTPContext
    ) async throws -> Response {
        let place = try Self.place(endpoint, context)
        context.facts.note {
            $0.endpoint = endpoint.rawValue
            $0.container = place.container.container
            $0.scope = place.scope
        }
        try await limits.admit(context)
        let query = RequestQuery(request.query)
        let credentials = RequestCredentials(request.headers, query)
        let hold = MemoryHold(memory)
        // A signature covers the body too. All other callers are known before the body is read.
        var signed: [UInt8]?
        if credentials.isSigned {
            try await authenticator.requireKey(
                of: credentials, container: place.container, now: context.now)
            // The signature covers the bytes as they are sent.
            guard request.headers[.contentEncoding] == nil else { throw HTTPRefusal.encodedBody }
            signed = try await bodies.read(
                request, isAnonymous: false, hold: hold, facts: context.facts)
        }
        let caller = try await authenticator.authenticate(
            credentials, container: place.container, path: request.path,
            pathAndQuery: request.head.path ?? "", body: signed ?? [], baseURL: context.baseURL,
            now: context.now)
        context.facts.note { $0.user = caller.caller.user?.name }
        var response: Response
        do {
            try await limits.admit(caller.caller, endpoint, context)
            var operation = OperationContext(
                endpoint: endpoint, container: place.container, scope: place.scope,
                caller: caller.caller, session: caller.session, requestID: context.requestID,
                now: context.now, baseURL: context.baseURL, device: Self.device(request, query),
                wantsSyncToken: query.isTrue("getCurrentSyncToken"),
                isGet: request.method == .get,
                dialect: query.isTrue("remapEnums") ? .iCloud : .webServices)
            operation.memory = hold
            try service.admit(operation)
            let body: [UInt8]
            if let bytes = signed {
                body = bytes
                signed = nil
            } else {
                body = try await bodies.read(
                    request, isAnonymous: caller.caller.user == nil, hold: hold,
                    facts: context.facts)
            }
            response = try await answer(operation, consume body, to: request, hold)
        } catch let error as ServerError {
            context.facts.note { $0.code = error.code }
            response = Self.complete(error, caller).response(requestID: context.requestID)
        }
        if let successor = caller.successorToken,
            !request.prefersMinimal || caller.isSuccessorDue
        {
            response.headers[.webAuthToken] = successor.string
            // Older clients read this header.
            if !request.prefersMinimal { response.headers[.session] = successor.string }
        }
        return response
    }

    /// Returns the answer, which holds its memory until the client has received it.
    private func answer(
        _ operation: OperationContext, _ body: consuming [UInt8], to request: Request,
        _ hold: MemoryHold
    ) async throws(ServerError) -> Response {
        let values = JSONSize.estimate(body)
        // An operation that stores something also has its values in another form, which share the
        // texts, and the values as they are stored and answered.
        let more = operation.endpoint.isReading ? 0 : body.count + values / 2
        try hold.setBase(to: body.count + values + more)
        let json = try Self.json(body)
        body = []
        let answer = try await service.longAnswer(json, operation)
        if operation.endpoint.isReading {
            try hold.set(to: answer.count)
        } else {
            hold.force(to: answer.count)
        }
        return try await Self.response(answer, to: request, hold)
    }

    /// Returns the response, in gzip when the client asks for it and it is worth its time and
    /// memory.
    private static func response(
        _ answer: Answer, to request: Request, _ hold: MemoryHold
    ) async throws(ServerError) -> Response {
        let isMinimal = request.prefersMinimal
        var headers: HTTPFields =
            isMinimal
            ? [.contentType: "application/json"]
            : [.contentType: "application/json; charset=utf-8", .vary: "Accept-Encoding"]
        var answer = answer
        if (isMinimal ? minimalGzipBytes : gzipBytes).contains(answer.count),
            ContentCoding.takesGzip(request.headers[.acceptEncoding]),
            hold.hasRoom(for: 3 * answer.count)
        {
            let whole = answer
            let packed =
                whole.count < Gzip.minimumBytes
                ? Gzip.compress(whole.bytes)
                : try await FileThreads.run { () throws(ServerError) in
                    Gzip.compress(whole.bytes)
                }
            if packed.count < whole.count {
                answer = Answer(packed)
                hold.force(to: answer.count)
                headers[.contentEncoding] = "gzip"
            }
        }
        guard answer.count > smallBytes else {
            let buffer = ByteBuffer(bytes: answer.bytes)
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: buffer))
        }
        return Response(status: .ok, headers: headers, body: body(answer, hold))
    }

    /// The bytes that the socket accepts even from a slow reader.
    private static let smallBytes = 4 << 10
    private static let gzipBytes = Gzip.minimumBytes...(4 << 20)
    /// The sizes for clients that count bytes and not packets.
    private static let minimalGzipBytes = 200...(4 << 20)

    /// Returns the body. Its bytes are copied piece by piece into the buffers of the connection.
    private static func body(_ answer: Answer, _ hold: MemoryHold) -> ResponseBody {
        ResponseBody(contentLength: answer.count) { writer in
            defer { withExtendedLifetime(hold) {} }
            for part in answer.parts {
                var at = 0
                while at < part.count {
                    let end = min(part.count, at + ResponseBody.partBytes)
                    try await writer.write(ByteBuffer(bytes: part[at..<end]))
                    at = end
                }
            }
            try await writer.finish(nil)
        }
    }

    /// Adds the sign-in URL to the error of an operation that needs a user.
    private static func complete(_ error: ServerError, _ caller: Authenticated) -> ServerError {
        guard error.code == .authenticationRequired, error.redirectURL == nil else { return error }
        var complete = error
        complete.redirectURL = caller.signInURL
        return complete
    }

    private static func place(_ endpoint: Endpoint, _ context: HTTPContext) throws(HTTPRefusal)
        -> (container: ContainerKey, scope: DatabaseScope)
    {
        guard let name = context.parameters["container"],
            let container = PercentEncoding.decode(name.utf8), container.count <= 255
        else { throw .badRequest("The path has no container.") }
        guard
            let environment = context.parameters["environment"].flatMap({
                ServerEnvironment(rawValue: $0.lowercased())
            })
        else {
            throw .badRequest("The environment in the path is `development` or `production`.")
        }
        let key = ContainerKey(container: Text(utf8: container), environment: environment)
        // Device operations have no database in their path. The public one is open to all callers.
        guard let database = context.parameters["database"] else { return (key, .public) }
        guard let scope = DatabaseScope(rawValue: database.lowercased()) else {
            throw .badRequest("The database in the path is `public`, `private` or `shared`.")
        }
        return (key, scope)
    }

    /// Parses the body. An empty body counts as an empty object.
    private static func json(_ body: [UInt8]) throws(ServerError) -> JSONValue {
        guard !body.isEmpty else { return .object([]) }
        let value: JSONValue
        do { value = try JSONParser.parse(body) } catch { throw ServerError(body: error) }
        guard case .object = value else {
            throw ServerError(.badRequest, "The body has to be an object, not \(value.kind).")
        }
        return value
    }

    /// Returns the name of the client for people: the name that it gives itself, cut to a maximum
    /// length, without controls.
    private static func device(_ request: Request, _ query: RequestQuery) -> Text {
        let name = query["clientId"]?.utf8 ?? Array((request.headers[.userAgent] ?? "").utf8)
        return Text(utf8: name.prefix(100).filter { $0 > 0x20 && $0 < 0x7F })
    }
}

extension RequestCredentials {
    init(_ headers: HTTPFields, _ query: RequestQuery) {
        self.init(
            apiToken: query["ckAPIToken"],
            webAuthToken: query["ckWebAuthToken"] ?? query["ckSession"],
            origin: headers[.origin].map { Text($0) },
            keyID: headers[.requestKeyID].map { Text($0) },
            date: headers[.requestDate].map { Text($0) },
            signature: headers[.requestSignature].map { Text($0) })
    }
}

extension Request {
    /// The path of the request line, not decoded, without the query.
    var path: String { String((head.path ?? "").prefix { $0 != "?" && $0 != "#" }) }

    /// The text after the first `?`.
    var query: Substring? {
        guard let target = head.path, let mark = target.firstIndex(of: "?") else { return nil }
        return target[target.index(after: mark)...].prefix { $0 != "#" }
    }
}
