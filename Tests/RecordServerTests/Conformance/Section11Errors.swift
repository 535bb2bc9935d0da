import HTTPTypes
import RecordModel
import RecordServerCore
import RecordServerHTTP
import RecordServerSQLite
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@Suite("Conformance: error codes", .serialized) struct ConformanceSection11 {
    private static let servers = ConformanceServers()

    @Test(arguments: TestServer.Transport.allCases, rows)
    func row(_ transport: TestServer.Transport, _ row: ConformanceRow) async throws {
        try await row.run(transport, Self.servers)
    }

    /// How a request is answered that fails with a code.
    private struct Provocation: Sendable {
        let code: ServerErrorCode
        /// Of the answer: 200 where the error is that of an item.
        let status: Int
        /// Where the error is in the body; empty for the whole of it.
        let path: String
        let make: @Sendable (ConformanceScene) async throws -> TestServer.Answer

        init(
            _ code: ServerErrorCode, _ status: Int, _ path: String = "",
            _ make: @escaping @Sendable (ConformanceScene) async throws -> TestServer.Answer
        ) {
            (self.code, self.status, self.path, self.make) = (code, status, path, make)
        }
    }

    /// Codes that no request can provoke, and why.
    private static let notProvoked: [ServerErrorCode: String] = [
        .uniqueFieldError: "The schema language has no unique fields; only CloudKit JS names it."
    ]

    /// Codes that this server does not have, and why.
    private static let notDefined = [
        "ZONE_PURGED": "A purged zone is ZONE_NOT_FOUND; its feed says deletionReason to who asks."
    ]

    /// The codes of Apple (CloudKit Web Services Reference, Error Codes), and the added codes
    /// (Protocol, "Extensions").
    private static let statuses = [
        "ACCESS_DENIED": 403, "ATOMIC_ERROR": 400, "AUTHENTICATION_FAILED": 401,
        "AUTHENTICATION_REQUIRED": 421, "BAD_REQUEST": 400, "CONFLICT": 409, "EXISTS": 409,
        "INTERNAL_ERROR": 500, "NOT_FOUND": 404, "QUOTA_EXCEEDED": 413, "THROTTLED": 429,
        "TRY_AGAIN_LATER": 503, "VALIDATING_REFERENCE_ERROR": 412, "ZONE_NOT_FOUND": 404,
        "UNIQUE_FIELD_ERROR": 400, "CHANGE_TOKEN_EXPIRED": 400, "LIMIT_EXCEEDED": 413,
        "ALREADY_SHARED": 400, "TOO_MANY_PARTICIPANTS": 400,
    ]

    @Test("every code is provoked by a row, or listed with the reason why it cannot be")
    func exhaustive() {
        let provoked = Set(provocations.map(\.code))
        for code in ServerErrorCode.allCases {
            #expect(provoked.contains(code) != (Self.notProvoked[code] != nil), "\(code)")
            #expect(Self.statuses[code.rawValue] == code.httpStatus, "\(code)")
        }
        #expect(Self.statuses.count == ServerErrorCode.allCases.count)
        for name in Self.notDefined.keys { #expect(ServerErrorCode(rawValue: name) == nil) }
    }

    private var provocations: [Provocation] { Self.provocations }

    private static let provocations = whole + items

    static let rows = ConformanceRows.of { rows in
        for provocation in provocations {
            let place = provocation.path.isEmpty ? "" : " at \(provocation.path)"
            let name = "\(provocation.code.rawValue)\(place), HTTP \(provocation.status)"
            rows.row(name) { s in
                let answer = try await provocation.make(s)
                #expect(answer.status == provocation.status, "\(answer.text)")
                let error = answer.at(provocation.path)
                #expect(
                    error.at("serverErrorCode") == JSONValue(provocation.code.rawValue),
                    "\(answer.text)")
                #expect(!error.at("reason").words.isEmpty)
                let uuid = try #require(HTTPField.Name("x-apple-request-uuid"))
                #expect(error.at("uuid").words == answer.headers[uuid])
                if provocation.path.isEmpty {
                    #expect(provocation.status == provocation.code.httpStatus)
                } else {
                    #expect(provocation.status == 200)
                }
            }
        }
    }

    private static let whole: [Provocation] = [
        Provocation(.accessDenied, 403) { try await Signer($0).call(.zonesList, .private, [:]) },
        Provocation(.authenticationFailed, 401) {
            try await $0.call(.zonesList, .private, as: .nobody)
        },
        Provocation(.authenticationRequired, 421) {
            try await $0.call(.zonesList, .private, as: .anonymous)
        },
        Provocation(.badRequest, 400) { try await $0.call(.zonesLookup, .private, ["zones": 1]) },
        Provocation(.internalError, 500) { try await broken($0, .internalError) },
        Provocation(.tryAgainLater, 503) { try await broken($0, .tryAgainLater) },
        Provocation(.notFound, 404) { try await $0.query() },
        Provocation(.zoneNotFound, 404) {
            try await $0.server.lookup($0.name("none"), $0.name("a"))
        },
        Provocation(.throttled, 429) { s in
            let server = try await s.own {
                $0.rates.user = RateSettings.Bucket(perSecond: 0.1, burst: 1)
            }
            _ = try await server.call(.zonesList)
            return try await server.call(.zonesList)
        },
        Provocation(.changeTokenExpired, 400) {
            try await $0.call(.changesDatabase, .private, ["syncToken": "AAAA"])
        },
        Provocation(.limitExceeded, 413) {
            let names = (0..<201).map { ["recordName": JSONValue("n\($0)")] as JSONValue }
            return try await $0.call(.recordsLookup, .private, ["records": .array(names)])
        },
        Provocation(.quotaExceeded, 413) { s in
            let server = try await s.own { $0.service.quotaBytes = 10 }
            try await server.makeZone(s.zone)
            let url = try await ConformanceAsset.token(s, "a", on: server).at("tokens.0.url")
            let path = try AssetFixture.path(url.string ?? "")
            return try await server.request(
                .post, path, body: [UInt8](repeating: 1, count: 1_000))
        },
    ]

    private static let items: [Provocation] = [
        Provocation(.atomicError, 200, "records.0") { s in
            try await s.modify(create(s.name("a")), operation("explode", s.name("b")))
        },
        Provocation(.exists, 200, "subscriptions.0") { s in
            let operation: JSONValue = [
                "operationType": "create",
                "subscription": [
                    "subscriptionID": s.json("z"), "subscriptionType": "zone", "zoneID": s.zoneID,
                ],
            ]
            let body: JSONValue = ["operations": [operation]]
            _ = try await s.call(.subscriptionsModify, .private, body)
            return try await s.call(.subscriptionsModify, .private, body)
        },
        Provocation(.conflict, 200, "records.0") { s in
            try await s.modify(create(s.name("a")))
            return try await s.modify(update(s.name("a"), tag: "stale"))
        },
        Provocation(.notFound, 200, "records.0") { try await $0.server.lookup($0.zone, "none") },
        Provocation(.validatingReferenceError, 200, "records.0") { s in
            try await s.modify(create(s.name("a"), parent: s.name("none")))
        },
        Provocation(.badRequest, 200, "records.0") { s in
            try await s.modify(operation("explode", s.name("a")))
        },
        Provocation(.accessDenied, 200, "records.0") { s in
            try await s.server.modify(nil, scope: .public, create(s.name("a")))
            return try await s.server.modify(nil, scope: .public, as: .bob, force(s.name("a")))
        },
        Provocation(.zoneNotFound, 200, "zones.0") { try await $0.server.deleteZone("Nowhere") },
        Provocation(.changeTokenExpired, 200, "zones.0") { s in
            try await s.call(
                .changesZone, .private, ["zones": [["zoneID": s.zoneID, "syncToken": "AAAA"]]])
        },
        Provocation(.quotaExceeded, 200, "records.0") { s in
            let server = try await s.own { $0.service.quotaBytes = 10 }
            return try await server.modify(
                nil, create("a", ["title": text(String(repeating: "x", count: 100))]))
        },
        Provocation(.limitExceeded, 200, "records.0") { s in
            let server = try await s.own { $0.service.recordBytes = 10 }
            return try await server.modify(
                nil, create("a", ["title": text(String(repeating: "x", count: 100))]))
        },
        Provocation(.alreadyShared, 200, "records.0") { s in
            try await s.modify(create(s.name("r")))
            try await s.server.share(s.zone, s.name("r"))
            return try await s.modify(
                TestServer.shareOperation(s.name("r"), name: s.name("second")),
                force(s.name("r")))
        },
        Provocation(.tooManyParticipants, 200, "records.0") { s in
            let server = try await s.own { $0.service.participantsPerShare = 1 }
            let own = ConformanceScene(server: server, number: s.number)
            try await server.makeZone(own.zone)
            try await own.modify(create("r"))
            return try await own.modify(
                TestServer.shareOperation("r", with: [.bob: "READ_ONLY", .carol: "READ_ONLY"]),
                force("r"))
        },
    ]

    /// What a server says whose storage fails.
    private static func broken(_ s: ConformanceScene, _ code: ServerErrorCode) async throws
        -> TestServer.Answer
    {
        let storage = BrokenStorage(try SQLiteStorage.open(path: nil))
        let server = try await TestServer(s.transport, storage: storage)
        _ = try await server.call(.zonesList)
        storage.fail(ServerError(code, "The storage of the test is broken.", retryAfter: 5))
        return try await server.call(.zonesList)
    }
}

/// A storage that fails when it is told to.
private final class BrokenStorage: Storage {
    private let storage: any Storage
    private let failure = Mutex<ServerError?>(nil)
    init(_ storage: any Storage) { self.storage = storage }

    func fail(_ error: ServerError) { failure.withLock { $0 = error } }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        if let error = failure.withLock({ $0 }) { throw error }
        return try await storage.read(body)
    }

    func write<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws(ServerError) -> Result {
        if let error = failure.withLock({ $0 }) { throw error }
        return try await storage.write(body)
    }
}
