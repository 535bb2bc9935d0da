import Foundation
import HTTPTypes
package import RecordModel
import RecordServerCore
package import RecordSync
package import RecordWire
package import ServerTestSupport
import Synchronization

/// Requests that go straight into a server, but for the faults that a test asks for.
package final class CoreTransport: SyncTransport {
    package enum Fault: Sendable {
        /// The request never arrives.
        case requestLost
        /// The server does what it is asked for, and the answer never arrives.
        case answerLost
        /// The server answers this instead.
        case refused(ServerError)
        /// The server does what it is asked for, and the answer is cut short.
        case cutShort
        /// The server answers this to every second operation of an upload, and does the others.
        case partly(ServerError)
        /// It arrives twice.
        case duplicated
        /// What the server has told of its feeds is forgotten there.
        case tokenExpired
        /// Something else happens before it is sent.
        case meanwhile(@Sendable () async throws -> Void)
        /// The answer is another one.
        case altered(@Sendable (JSONValue) -> JSONValue)
        /// The machine's process is killed before the request is sent, or when it was answered.
        case crash(isAnswered: Bool)
    }

    private struct State {
        var faults: [Fault?] = []
        var faultsOfOperations: [SyncOperation: [Fault]] = [:]
        var sent: [(operation: SyncOperation, body: [UInt8])] = []
        var faultsOfAssets: [Fault] = []
        var faultOfDownload: Fault?
        var uploadedBytes = 0
        var largest = Int.max
        var largestAccepted = Int.max
        /// Called after each request that the server got, with its answer; nil of one that it refused.
        var onAnswer: Observer?
        /// The process that sends is dead.
        var isDead = false
        var onCrash: @Sendable () throws -> Void = {}
    }

    package typealias Observer =
        @Sendable (_ operation: SyncOperation, _ body: JSONValue, _ answer: JSONValue?)
        async throws -> Void

    private let server: TestServer
    private let person: TestServer.Person
    private let overHTTP: Bool
    private let state = Mutex(State())

    /// - Parameter overHTTP: whether operations go through all of the server but the socket; else they
    ///   go into its core. Assets always do.
    package init(_ server: TestServer, _ person: TestServer.Person, overHTTP: Bool) {
        self.server = server
        self.person = person
        self.overHTTP = overHTTP
    }

    package func onAnswer(_ body: @escaping Observer) { state.withLock { $0.onAnswer = body } }

    /// What a crash does.
    package func onCrash(_ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.onCrash = body }
    }

    private func crash() throws(SyncProblem) {
        do {
            try state.withLock { state in
                state.isDead = true
                return state.onCrash
            }()
        } catch {
            throw .unreadable("no image: \(error)")
        }
        throw .unreachable("killed")
    }

    /// Another process sends now.
    package func revive() { state.withLock { $0.isDead = false } }

    /// What becomes of the next requests, one after the other; nil for nothing special.
    package func plan(_ faults: Fault?...) { state.withLock { $0.faults += faults } }

    /// What becomes of the next requests of an operation.
    package func plan(_ operation: SyncOperation, _ faults: Fault...) {
        state.withLock { $0.faultsOfOperations[operation, default: []] += faults }
    }

    /// What becomes of the bytes of the next asset: one of the two that lose something.
    package func planAsset(_ fault: Fault) { state.withLock { $0.faultsOfAssets.append(fault) } }

    /// What happens when half of the next asset has come: something else, or a crash.
    package func planDownload(_ fault: Fault) { state.withLock { $0.faultOfDownload = fault } }

    /// Something on the way loses larger requests.
    package func loseRequests(over bytes: Int) { state.withLock { $0.largest = bytes } }

    /// Something on the way refuses larger ones, and says why.
    package func refuseRequests(over bytes: Int) { state.withLock { $0.largestAccepted = bytes } }

    package func forgetPlan() {
        state.withLock { state in
            state.faults = []
            state.faultsOfOperations = [:]
            state.faultsOfAssets = []
            state.faultOfDownload = nil
        }
    }

    /// The requests since the last call.
    package func takeSent() -> [SyncOperation] { takeRequests().map(\.operation) }

    /// What was asked in those of one operation since the last call, whatever else was.
    package func takeBodies(of operation: SyncOperation) -> [String] {
        takeRequests().filter { $0.operation == operation }
            .map { String(decoding: $0.body, as: UTF8.self) }
    }

    /// All that was asked since the last call.
    package func takeRequests() -> [(operation: SyncOperation, body: [UInt8])] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    package func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        let fault = state.withLock { state -> Fault? in
            state.sent.append((operation, body))
            if state.isDead || body.count > state.largest { return .requestLost }
            if body.count > state.largestAccepted {
                return .refused(ServerError(.limitExceeded, "too large"))
            }
            if let planned = state.faultsOfOperations[operation]?.first {
                state.faultsOfOperations[operation]?.removeFirst()
                return planned
            }
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        switch fault {
        case .requestLost: throw .unreachable("lost")
        case .tokenExpired where String(decoding: body, as: UTF8.self).contains("syncToken"):
            throw Self.refusal(.changeTokenExpired, "expired")
        case .meanwhile(let body):
            do {
                try await body()
            } catch {
                throw .unreadable("meanwhile: \(error)")
            }
        case .duplicated: _ = try await answer(operation, scope, body)
        case .crash(isAnswered: false): try crash()
        case .refused(let error):
            throw Self.refusal(error.code, error.reason)
        case .partly(let error):
            return try await answer(operation, scope, body, everySecond: error)
        case .answerLost, .crash, .tokenExpired, .cutShort, .altered, nil: break
        }
        let answer = try await answer(operation, scope, body)
        switch fault {
        case .answerLost: throw .unreachable("lost")
        case .altered(let alter): return alter(answer)
        case .cutShort: throw .unreadable("cut short")
        case .crash: try crash()
        default: break
        }
        return answer
    }

    /// The answer to an upload of which every second operation is refused.
    private func answer(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8],
        everySecond error: ServerError
    ) async throws(SyncProblem) -> JSONValue {
        let request: JSONValue
        do {
            request = try JSONParser.parse(body)
        } catch {
            throw .unreadable(error.description)
        }
        let operations = request["operations"]?.array ?? []
        let done = operations.indices.filter { $0 % 2 == 0 }.map { operations[$0] }
        let answer = try await answer(
            operation, scope, request.replacing("operations", .array(done)).serialized())
        let refused = operations.indices.filter { $0 % 2 == 1 }.map { place -> JSONValue in
            [
                "recordName": operations[place]["record"]?["recordName"] ?? "",
                "serverErrorCode": JSONValue(error.code.rawValue),
                "reason": JSONValue(error.reason),
            ]
        }
        return answer.replacing("records", .array((answer["records"]?.array ?? []) + refused))
    }

    private static func refusal(_ code: ServerErrorCode, _ reason: String) -> SyncProblem {
        .refused(WireError(text: Text(code.rawValue), reason: Text(reason)))
    }

    package func upload(
        _ file: OutgoingFile, to url: String
    ) async throws(SyncProblem) -> JSONValue {
        let fault = state.withLock { state in
            state.faultsOfAssets.isEmpty ? nil : state.faultsOfAssets.removeFirst()
        }
        if case .requestLost = fault { throw .unreachable("lost") }
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file.path)))
        } catch {
            throw .unreadable("\(error)")
        }
        state.withLock { $0.uploadedBytes += bytes.count }
        let answer = try await request(.post, url, body: bytes).json
        if case .answerLost = fault { throw .unreachable("lost") }
        return answer
    }

    package func download(
        _ url: String, from offset: Int64, count: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) {
        let range = "bytes=\(offset)-\(offset + count - 1)"
        let answer = try await request(.get, url, headers: [.range: range])
        let fault = state.withLock { state in
            defer { state.faultOfDownload = nil }
            return state.faultOfDownload
        }
        // In pieces, as from a network.
        let size = fault == nil ? 1_000 : max(1, answer.body.count / 2)
        for start in stride(from: 0, to: answer.body.count, by: size) {
            if start == size { try await interrupt(fault) }
            let piece = Array(answer.body[start..<min(start + size, answer.body.count)])
            do throws(RecordError) {
                guard try await take(piece) else { return }
            } catch {
                throw .store(error)
            }
        }
    }

    private func interrupt(_ fault: Fault?) async throws(SyncProblem) {
        switch fault {
        case .meanwhile(let body):
            do {
                try await body()
            } catch {
                throw .unreadable("meanwhile: \(error)")
            }
        case .crash:
            // Nobody is left who would ask again.
            do throws(SyncProblem) { try crash() } catch { throw .unreadable("\(error)") }
        default: break
        }
    }

    /// The bytes of all assets that were sent.
    package var uploadedBytes: Int { state.withLock(\.uploadedBytes) }

    private func request(
        _ method: HTTPRequest.Method, _ url: String, headers: HTTPFields = [:], body: [UInt8] = []
    ) async throws(SyncProblem) -> TestServer.Answer {
        guard let path = url.range(of: "/assets/") else { throw .unreadable(url) }
        let answer: TestServer.Answer
        do {
            answer = try await server.request(
                method, String(url[path.lowerBound...]), headers: headers, body: body)
        } catch {
            throw .unreachable("\(error)")
        }
        guard answer.status != 200 && answer.status != 206 else { return answer }
        throw try refusal(answer)
    }

    package var takesSplices: Bool { true }

    /// Nobody pushes into a test.
    package func poll(_ url: String) async throws(SyncProblem) -> [UInt8] {
        throw .unreachable("there is no courier")
    }

    private func answer(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        guard let endpoint = Endpoint(rawValue: operation.rawValue) else {
            throw .unreadable("\(operation.rawValue) is no operation of the server")
        }
        do {
            let json = try JSONParser.parse(body)
            let outcome = try await outcome(endpoint, scope, json)
            let answer = try? outcome.get()
            try await state.withLock(\.onAnswer)?(operation, json, answer)
            return try outcome.get()
        } catch let error as SyncProblem {
            throw error
        } catch {
            throw .unreachable("\(error)")
        }
    }

    private func outcome(
        _ endpoint: Endpoint, _ scope: DatabaseScope, _ body: JSONValue
    ) async throws -> Result<JSONValue, SyncProblem> {
        if overHTTP {
            let answer = try await server.call(endpoint, scope, as: person, body)
            return answer.status == 200 ? .success(answer.json) : .failure(try refusal(answer))
        }
        do throws(ServerError) {
            return .success(try await server.callCore(endpoint, scope, as: person, body))
        } catch {
            return .failure(try refusal(JSONParser.parse(error.body(requestID: "core"))))
        }
    }

    private func refusal(_ answer: TestServer.Answer) throws(SyncProblem) -> SyncProblem {
        try refusal(answer.json)
    }

    private func refusal(_ json: JSONValue) throws(SyncProblem) -> SyncProblem {
        let error: WireError?
        do throws(ServerError) {
            error = try WireError(JSONReader(json))
        } catch {
            throw .unreadable("\(error.reason)")
        }
        guard let error else { throw .unreadable("a refusal without an error") }
        return .refused(error)
    }
}

extension JSONValue {
    /// An object with another value of a member that it has.
    fileprivate func replacing(_ key: Text, _ value: JSONValue) -> JSONValue {
        .object(
            (object ?? []).map { $0.key == key ? JSONMember(key: key, value: value) : $0 })
    }
}
