package import RecordModel
package import RecordWire

/// An operation of the protocol that the engine uses.
package enum SyncOperation: String, CaseIterable, Sendable {
    case recordsModify = "records/modify"
    case recordsLookup = "records/lookup"
    case recordsQuery = "records/query"
    case databaseChanges = "changes/database"
    case zoneChanges = "changes/zone"
    case zonesLookup = "zones/lookup"
    case zonesModify = "zones/modify"
    case currentUser = "users/current"
    case subscriptionsModify = "subscriptions/modify"
    case tokensCreate = "tokens/create"
    case tokensRegister = "tokens/register"
    case assetsUpload = "assets/upload"
    case assetsRereference = "assets/rereference"
    case recordsAccept = "records/accept"
    /// The extensions of recordfs-server.
    case recordsRequestAccess = "records/requestAccess"
    case recordsDecline = "records/decline"
    case recordsHistory = "records/history"
    /// Extensions for administrators.
    case schemaExport = "schema/export"
    case schemaImport = "schema/import"

    /// Indicates whether the operation belongs to a device and not to a database.
    var isDevice: Bool { self == .tokensCreate || self == .tokensRegister }
}

/// The way of requests to the record server: over HTTP, or in a test directly into a server.
///
/// The transport is responsible for credentials: it signs requests and keeps the tokens of the
/// answers.
package protocol SyncTransport: Sendable {
    /// Sends a request and returns the JSON of the answer. An error of a single item is in the
    /// JSON. An error of the whole request is thrown.
    func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue

    /// Sends the bytes of a file to an address that `assets/upload` returned. Returns the JSON of
    /// the answer.
    func upload(_ file: OutgoingFile, to url: String) async throws(SyncProblem) -> JSONValue

    /// Downloads `count` bytes of an asset from `offset` on, piece by piece. `take` returns whether
    /// it wants more. `count` is not 0.
    func download(
        _ url: String, from offset: Int64, count: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem)

    /// Indicates whether the server takes texts as changes (`TextSplice`), as far as that is known.
    var takesSplices: Bool { get }

    /// Waits at a courier for a notification. Returns no bytes when none arrived for a long time.
    func poll(_ url: String) async throws(SyncProblem) -> [UInt8]
}

/// A file whose bytes are sent.
package struct OutgoingFile: Sendable {
    /// The path of the file. Nobody writes to it.
    package let path: String
    /// The size in bytes.
    package let size: Int64
    /// An object that removes the file at its own end. Nil for a file that stays.
    private let keeper: (any Sendable)?

    package init(path: String, size: Int64, keeper: (any Sendable)? = nil) {
        self.path = path
        self.size = size
        self.keeper = keeper
    }
}

extension SyncTransport {
    func send<Answer>(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8],
        reading read: (JSONReader) throws(ServerError) -> Answer
    ) async throws(SyncProblem) -> Answer {
        let json = try await send(operation, scope, body)
        do throws(ServerError) {
            return try read(JSONReader(json))
        } catch {
            throw SyncProblem.unreadable("\(operation.rawValue): \(error.reason)")
        }
    }
}

extension AnswerValue {
    /// The body of a request.
    var bytes: [UInt8] {
        var body = AnswerWriter()
        write(to: &body)
        return body.bytes
    }
}
