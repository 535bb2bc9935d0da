import Foundation
import HTTPTypes
import Logging
import RecordModel
import RecordServer
import RecordStore
import RecordSync
import RecordWire
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

/// A machine of somebody's: a store of its own, and the work of the engine against a record server in
/// this process.
final class Replica: Sendable {
    /// From one start of the daemon to the next.
    private struct Life {
        let store: RecordStore
        let files: TemporaryDirectory
    }

    let wire: CoreTransport
    private let life: Mutex<Life>
    private let clock: ManualClock
    private let settings: Exchange.Settings
    /// What was on the disk at the moment of a crash.
    private let image = Mutex<TemporaryDirectory?>(nil)

    var store: RecordStore { life.withLock(\.store) }
    var exchange: Exchange {
        Exchange(
            store: store, transport: wire, settings: settings,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    init(
        _ server: TestServer, as person: TestServer.Person = .alice,
        change: (inout Exchange.Settings) -> Void = { _ in }
    ) throws {
        clock = server.clock
        wire = CoreTransport(server, person)
        var settings = Exchange.Settings()
        change(&settings)
        self.settings = settings
        let files = try TemporaryDirectory()
        life = Mutex(Life(store: try Self.open(files, clock), files: files))
        wire.onCrash { [weak self] in try self?.takeImage() }
    }

    private static func open(
        _ files: TemporaryDirectory, _ clock: ManualClock
    ) throws -> RecordStore {
        try RecordStore.open(
            directory: files.path, options: StoreOptions(clock: clock, grace: .zero))
    }

    private func takeImage() throws {
        let copy = try TemporaryDirectory()
        let directory = life.withLock(\.files.path)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.hasPrefix("store.sqlite") {
            try FileManager.default.copyItem(
                atPath: "\(directory)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        image.withLock { $0 = copy }
    }

    /// Whether it crashed since it was last started: then it starts again with what the disk had.
    func restartAfterCrash() throws -> Bool {
        let image = image.withLock { image in
            defer { image = nil }
            return image
        }
        guard let image else { return false }
        try store.close()
        let store = try Self.open(image, clock)
        life.withLock { $0 = Life(store: store, files: image) }
        return true
    }

    deinit {
        do {
            try store.close()
        } catch {
            Issue.record("closing failed: \(error)")
        }
    }

    // MARK: What somebody does at the mount

    /// Saves NAME.json in ZONE/Note.
    func save(
        _ name: String, _ text: String, zone: String = "Box", in database: Database = .private
    ) throws {
        try store.write(author: .mount) { transaction throws(RecordError) in
            let zone = try transaction.makeZone(database, .me, ZoneName(zone))
            let type = try transaction.makeType(zone.id, RecordTypeName("Note"))
            _ = try transaction.save(text: Array(text.utf8), type: type.id, stem: Stem(name))
        }
    }

    /// Writes ZONE/Note/NAME@FIELD.EXT.
    func attach(
        _ bytes: [UInt8], to name: String, _ field: String = "photo", _ index: Int? = nil,
        fileExtension: String = "jpg", zone: String = "Box"
    ) throws {
        let path = store.pathForUnfinishedAsset()
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let (hash, size) = try store.adoptAsset(file: path)
        let record = try #require(try entry(name, zone)).id
        _ = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.setAsset(
                record, FieldName(field), index, hash, size: size,
                fileExtension: Array(fileExtension.utf8))
        }
    }

    /// Changes the first byte of a file.
    static func overwrite(_ path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data([255]))
        try file.close()
    }

    /// `mv NAME.json NEW.json` in one directory.
    func rename(_ name: String, to new: String, zone: String = "Box") throws {
        let entry = try #require(try entry(name, zone))
        _ = try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.rename(entry.id, toType: entry.type, stem: Stem(new))
        }
        _ = try store.finalizeWaitingDeletes(olderThan: .zero, author: .mount)
    }

    /// The files beside NAME.json, with what is in them; nil for what is not on this machine.
    func assets(of name: String, zone: String = "Box") throws -> [String: [UInt8]?] {
        guard let entry = try entry(name, zone) else { return [:] }
        var files: [String: [UInt8]?] = [:]
        for asset in try store.assets(of: entry.id) {
            let name = String(decoding: asset.fileName, as: UTF8.self)
            files.updateValue(nil, forKey: name)
            guard asset.isDownloaded, let hash = asset.hash else { continue }
            let data = try Data(contentsOf: URL(fileURLWithPath: store.assetPath(hash)))
            files.updateValue(Array(data), forKey: name)
        }
        return files
    }

    func delete(_ name: String, zone: String = "Box") throws {
        guard let entry = try entry(name, zone) else { return }
        try store.write(author: .mount) { transaction throws(RecordError) in
            try transaction.beginDelete(entry.id)
            try transaction.finalizeDelete(entry.id)
        }
    }

    /// `rm -r ZONE`.
    func removeZone(_ zone: String = "Box") throws {
        guard let info = try store.zone(.private, .me, ZoneName(zone)) else { return }
        for name in try names(zone: zone) { try delete(name, zone: zone) }
        try store.write(author: .mount) { transaction throws(RecordError) in
            if let type = try self.store.type(info.id, RecordTypeName("Note")) {
                try transaction.removeType(type.id)
            }
            try transaction.removeZone(info.id)
        }
    }

    // MARK: What somebody sees there

    private func type(_ zone: String) throws -> TypeInfo? {
        guard let info = try store.zone(.private, .me, ZoneName(zone)) else { return nil }
        return try store.type(info.id, RecordTypeName("Note"))
    }

    func entry(_ name: String, _ zone: String = "Box") throws -> RecordEntry? {
        guard let type = try type(zone) else { return nil }
        return try store.record(type.id, Stem(name))
    }

    func names(zone: String = "Box") throws -> [String] {
        guard let type = try type(zone) else { return [] }
        return try store.records(in: type.id, limit: 10_000).map { $0.stem.description }.sorted()
    }

    /// The record's values, in the order of their names; nil when there is no such file.
    func text(_ name: String, zone: String = "Box") throws -> String? {
        guard let entry = try entry(name, zone), entry.state == .saved,
            let text = try store.savedText(of: entry.id)
        else { return nil }
        return try JSONParser.parse(text).sorted.serialized().string
    }

    /// Every file with its text.
    func conflicts(zone: String = "Box") throws -> [Conflict] {
        guard let zone = try store.zone(.private, .me, ZoneName(zone)) else { return [] }
        return try store.conflicts(in: zone.id)
    }

    func tree(zone: String = "Box") throws -> [String: String] {
        var tree: [String: String] = [:]
        for name in try names(zone: zone) { tree[name] = try text(name, zone: zone) }
        return tree
    }

    var zones: [String] {
        get throws { try store.zones(in: .private).map { $0.name.description } }
    }

    /// What waits to be sent; parked changes with a question mark and the reason's first word.
    func outbox() throws -> [String] {
        try store.outbox(limit: 1_000).map {
            "\($0.operation) \($0.name)"
                + ($0.error.map { "? \($0.prefix { $0 != ":" })" } ?? "")
        }
    }

    /// Fetches and sends until nothing is left to do.
    func sync() async throws {
        try await exchange.round()
        // What was merged is sent by the next.
        for _ in 0..<10 where try store.outbox(limit: 1_000).contains(where: { $0.error == nil }) {
            try await exchange.round()
        }
    }

    func expectSound() throws {
        #expect(try store.integrityCheck(deep: true) == [])
    }
}

extension JSONValue {
    /// With the members of all objects in the order of their keys.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(
                members.map { JSONMember(key: $0.key, value: $0.value.sorted) }
                    .sorted { $0.key < $1.key })
        case .array(let values): .array(values.map(\.sorted))
        default: self
        }
    }
}

extension [UInt8] {
    fileprivate var string: String { String(decoding: self, as: UTF8.self) }
}

/// Requests that go straight into a server, but for the faults that a test asks for.
final class CoreTransport: SyncTransport {
    enum Fault: Sendable {
        /// The request never arrives.
        case requestLost
        /// The server does what it is asked for, and the answer never arrives.
        case answerLost
        /// The server answers this instead.
        case refused(ServerError)
        /// The machine's process is killed before the request is sent, or when it was answered.
        case crash(isAnswered: Bool)
    }

    private struct State {
        var faults: [Fault?] = []
        var sent: [SyncOperation] = []
        var uploadedBytes = 0
        var onCrash: @Sendable () throws -> Void = {}
    }

    private let server: TestServer
    private let person: TestServer.Person
    private let state = Mutex(State())

    init(_ server: TestServer, _ person: TestServer.Person) {
        self.server = server
        self.person = person
    }

    /// What a crash does.
    func onCrash(_ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.onCrash = body }
    }

    private func crash() throws(SyncProblem) {
        do {
            try state.withLock(\.onCrash)()
        } catch {
            throw .unreadable("no image: \(error)")
        }
        throw .unreachable("killed")
    }

    /// What becomes of the next requests, one after the other; nil for nothing special.
    func plan(_ faults: Fault?...) { state.withLock { $0.faults += faults } }

    func forgetPlan() { state.withLock { $0.faults = [] } }

    /// The requests since the last call.
    func takeSent() -> [SyncOperation] {
        state.withLock { state in
            defer { state.sent = [] }
            return state.sent
        }
    }

    func send(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        let fault = state.withLock { state in
            state.sent.append(operation)
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        switch fault {
        case .requestLost: throw .unreachable("lost")
        case .crash(isAnswered: false): try crash()
        case .refused(let error):
            throw .refused(WireError(text: Text(error.code.rawValue), reason: Text(error.reason)))
        case .answerLost, .crash, nil: break
        }
        let answer = try await answer(operation, scope, body)
        switch fault {
        case .answerLost: throw .unreachable("lost")
        case .crash: try crash()
        default: break
        }
        return answer
    }

    func upload(
        _ file: OutgoingFile, to url: String
    ) async throws(SyncProblem) -> JSONValue {
        let bytes: [UInt8]
        do {
            bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file.path)))
        } catch {
            throw .unreadable("\(error)")
        }
        state.withLock { $0.uploadedBytes += bytes.count }
        return try await request(.post, url, body: bytes).json
    }

    func download(
        _ url: String, from offset: Int64, count: Int64,
        take: @escaping @Sendable ([UInt8]) async throws(RecordError) -> Bool
    ) async throws(SyncProblem) {
        let range = "bytes=\(offset)-\(offset + count - 1)"
        let answer = try await request(.get, url, headers: [.range: range])
        // In pieces, as from a network.
        for start in stride(from: 0, to: answer.body.count, by: 1_000) {
            let piece = Array(answer.body[start..<min(start + 1_000, answer.body.count)])
            do throws(RecordError) {
                guard try await take(piece) else { return }
            } catch {
                throw .store(error)
            }
        }
    }

    /// The bytes of all assets that were sent.
    var uploadedBytes: Int { state.withLock(\.uploadedBytes) }

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

    /// Nobody pushes into a test.
    func poll(_ url: String) async throws(SyncProblem) -> [UInt8] {
        throw .unreachable("there is no courier")
    }

    private func answer(
        _ operation: SyncOperation, _ scope: DatabaseScope, _ body: [UInt8]
    ) async throws(SyncProblem) -> JSONValue {
        guard let endpoint = Endpoint(rawValue: operation.rawValue) else {
            throw .unreadable("\(operation.rawValue) is no operation of the server")
        }
        let answer: TestServer.Answer
        do {
            answer = try await server.call(
                endpoint, scope, as: person, try JSONParser.parse(body))
        } catch {
            throw .unreachable("\(error)")
        }
        guard answer.status != 200 else { return answer.json }
        throw try refusal(answer)
    }

    private func refusal(_ answer: TestServer.Answer) throws(SyncProblem) -> SyncProblem {
        let error: WireError?
        do throws(ServerError) {
            error = try WireError(JSONReader(answer.json))
        } catch {
            throw .unreadable("\(answer.status): \(error.reason)")
        }
        guard let error else { throw .unreadable("\(answer.status) without an error") }
        return .refused(error)
    }
}
