import Glibc
package import RecordModel
package import RecordServerCore
package import RecordWire

/// The data that a server has of a user, as files: for a user who leaves, or who asks for
/// their data.
///
/// It has `account.json`, for each zone `CONTAINER/ENVIRONMENT/ZONE.ndjson` with one record a line,
/// in a form like that of records/lookup, and the bytes of assets by their SHA-256 in `assets/`.
package struct UserExport: Sendable {
    package struct Summary: Sendable, Hashable {
        package var zones = 0
        package var records = 0
        package var assets = 0
    }

    private static let pageCount = 200
    private static let pageBytes = 4 << 20

    let storage: any Storage
    let assets: any AssetStore
    let directory: String

    package init(_ storage: any Storage, _ assets: any AssetStore, to directory: String) {
        self.storage = storage
        self.assets = assets
        self.directory = directory
    }

    /// Writes the files. Errors: `notFound`; `badRequest` for a directory that is not empty;
    /// `internalError` with the file that cannot be written.
    package func run(_ name: Text, now: Timestamp) async throws(ServerError) -> Summary {
        try DataDirectory(directory).makeEmpty()
        let summary = try await Accounts(storage: storage).summary(of: name, now: now)
        let events = try await Accounts(storage: storage).events(of: name)
        let sessions = try await Accounts(storage: storage).sessions(of: name)
        try Self.write(
            Self.account(summary, events, sessions).serialized(pretty: true),
            to: directory + "/account.json")
        let user = summary.user.name
        let zones = try await storage.read { (reader) throws(ServerError) in
            try Accounts.zones(of: user, reader)
        }
        var result = Summary()
        for zone in zones { try await export(zone, &result) }
        return result
    }

    private static func account(
        _ summary: UserSummary, _ events: [AccountEvent], _ sessions: [SessionRow]
    ) -> JSONValue {
        let user = summary.user
        func time(_ milliseconds: Int64) -> JSONValue {
            JSONValue(ISO8601.print(milliseconds: milliseconds))
        }
        return [
            "emailAddress": .string(user.emailAddress),
            "phoneNumber": user.phoneNumber.map { .string($0) } ?? .null,
            "recordName": .string(user.name.text), "givenName": .string(user.givenName),
            "familyName": .string(user.familyName), "created": time(user.createdMilliseconds),
            "isAdministrator": .bool(user.isAdministrator),
            "isDiscoverable": .bool(user.isDiscoverable),
            "usedBytes": JSONValue(summary.usedBytes),
            "sessions": .array(
                sessions.map { session in
                    [
                        "container": .string(session.container.container),
                        "label": .string(session.label),
                        "created": time(session.createdMilliseconds),
                        "lastUsed": time(session.generationMilliseconds),
                    ]
                }),
            "events": .array(
                events.map { event in
                    [
                        "what": JSONValue(event.kind.rawValue), "at": time(event.milliseconds),
                        "address": .string(event.address), "agent": .string(event.agent),
                    ]
                }),
        ]
    }

    private func export(_ zone: ZoneRow, _ result: inout Summary) async throws(ServerError) {
        let database = zone.key.database
        let folder =
            directory + "/" + database.container.container.string + "/"
            + database.container.environment.rawValue
        try DataDirectory(folder).make()
        let path = folder + "/" + QueryEncoding.encode(zone.key.zone.bytes) + ".ndjson"
        let file = try OutputFile(path)
        defer { file.close() }
        result.zones += 1
        var position: Int64 = 0
        while true {
            let start = position
            let (entries, hashes) = try await storage.read { (reader) throws(ServerError) in
                let entries = try reader.changes(
                    zone.handle, after: start, shares: nil, descending: false,
                    limit: Self.pageCount, maximumBytes: Self.pageBytes)
                return (entries, try Self.hashes(entries, database, reader))
            }
            guard let last = entries.last else { return }
            position = last.position
            for case .record(let record) in entries where !record.isDeleted {
                try file.write(Self.line(record))
                result.records += 1
            }
            for hash in hashes where try await export(hash) { result.assets += 1 }
        }
    }

    private static func line(_ record: StoredRecord) -> [UInt8] {
        AnswerWriter.object { answer in
            answer.member("recordName", record.name)
            answer.member("recordType", record.type)
            for (key, stamp) in [("created", record.created), ("modified", record.modified)] {
                answer.member(
                    key,
                    object: { answer in
                        answer.member("timestamp", JSONValue(stamp.milliseconds))
                        answer.member("userRecordName", stamp.user)
                    })
            }
            if let parent = record.parent {
                answer.member("parent", object: { $0.member("recordName", parent) })
            }
            answer.member("fields", JSONBytes(record.fields))
        } + [0x0A]
    }

    private static func hashes(
        _ entries: [FeedEntry], _ database: DatabaseKey, _ reader: any StorageReader
    ) throws(ServerError) -> [ContentHash] {
        var hashes: [ContentHash] = []
        for case .record(let record) in entries where record.hasAssets {
            for field in try FieldsCodec.decode(record.fields) {
                for case .asset(let asset) in field.value?.elements ?? [] {
                    let row = try reader.asset(database, fileChecksum: asset.fileChecksum)
                    if let row { hashes.append(row.sha256) }
                }
            }
        }
        return hashes
    }

    /// Writes the bytes of an asset. Returns false when they are there already.
    private func export(_ hash: ContentHash) async throws(ServerError) -> Bool {
        try DataDirectory(directory + "/assets").make()
        let path = directory + "/assets/" + hash.hex
        guard access(path, F_OK) != 0 else { return false }
        let asset = try await assets.open(hash)
        let file = try OutputFile(path)
        defer { file.close() }
        var offset: Int64 = 0
        while offset < asset.size {
            let bytes = try await asset.read(at: offset, count: 1 << 18)
            guard !bytes.isEmpty else { break }
            try file.write(bytes)
            offset += Int64(bytes.count)
        }
        return true
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(ServerError) {
        let file = try OutputFile(path)
        defer { file.close() }
        try file.write(bytes + [0x0A])
    }
}

/// A new file that only this user may read.
private struct OutputFile {
    let path: String
    private let descriptor: Int32

    init(_ path: String) throws(ServerError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ServerError.file("make", path, errno) }
    }

    func write(_ bytes: [UInt8]) throws(ServerError) {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw ServerError.file("write", path, errno) }
            start += count
        }
    }

    func close() { Glibc.close(descriptor) }
}
