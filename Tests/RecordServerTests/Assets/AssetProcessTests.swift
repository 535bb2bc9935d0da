import Glibc
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore
@testable import RecordServerSQLite

/// The real server with sealed URLs that the test makes itself, from the server's own key.
private struct AssetProcess {
    let folder: TemporaryDirectory
    let seal: Seal
    static let key = [UInt8](repeating: 5, count: 32)
    static let place = AssetPlace(
        zone: AssetFixture.work, record: RecordName("n-1"), field: FieldName("photo"))

    init() async throws {
        folder = try TemporaryDirectory()
        seal = Seal(key: Self.key, incarnation: Self.key)
        let storage = try SQLiteStorage.open(path: DataDirectory(folder.path).databasePath)
        try await storage.write { (transaction) throws(ServerError) in
            try transaction.putSetting(ServerSetting.sealKey, Self.key)
            try transaction.putSetting(ServerSetting.incarnation, Self.key)
            try transaction.createContainer(TestServer.container)
            try transaction.putUser(
                UserRow(
                    name: AssetFixture.alice, emailAddress: "alice@example.org",
                    passwordHash: "", createdMilliseconds: 0))
            _ = try transaction.createZone(AssetFixture.work, incarnation: 7)
        }
        storage.close()
    }

    private var later: Int64 { SystemClock().now.nanoseconds / 1_000_000 + 600_000 }

    var uploadPath: String {
        "/assets/up/"
            + UploadTicket(
                place: Self.place, type: RecordTypeName("Note"), user: AssetFixture.alice,
                expiresMilliseconds: later
            ).sealed(by: seal).string
    }

    func downloadPath(_ checksum: Text) -> String {
        "/assets/down/"
            + DownloadTicket(
                place: Self.place, fileChecksum: checksum, viewer: AssetFixture.alice,
                expiresMilliseconds: later
            ).sealed(by: seal).string + "/x"
    }

    /// Beside the running server, as commands do.
    func storage<Result: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Result
    ) async throws -> Result {
        let storage = try SQLiteStorage.open(path: DataDirectory(folder.path).databasePath)
        let result = try await storage.write(body)
        storage.close()
        return result
    }

    func refer(to checksum: Text, size: Int64) async throws {
        try await storage { (transaction) throws(ServerError) in
            guard let zone = try transaction.zone(AssetFixture.work) else { return }
            let stamp = WriteStamp(milliseconds: 0, user: AssetFixture.alice, device: "")
            let value = WireValue.asset(WireAsset(fileChecksum: checksum, size: size))
            try transaction.put(
                zone.handle,
                StoredRecord(
                    name: Self.place.record, type: RecordTypeName("Note"), tag: 1, position: 1,
                    fields: FieldsCodec.encode([
                        WireField(name: Self.place.field, value: value, type: nil)
                    ]), hasAssets: true, created: stamp, modified: stamp))
            try transaction.putAssetReferences(zone.handle, from: Self.place.record, [checksum])
        }
    }

    var assets: AssetDirectory {
        get throws { try AssetDirectory(path: DataDirectory(folder.path).assetPath) }
    }
}

@Suite("Assets of a real server") struct AssetProcessTests {
    /// The most memory that the process has had, in bytes.
    private func peakMemory(_ pid: pid_t) throws -> Int {
        let file = try #require(fopen("/proc/\(pid)/status", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
            guard text.hasPrefix("VmHWM:") else { continue }
            return (Int(text.filter(\.isNumber)) ?? 0) << 10
        }
        throw RawHTTPError("no VmHWM")
    }

    /// Brings so many pieces of 1 MiB, and gives their digest and the answer.
    private func upload(_ pieces: Int, _ process: AssetProcess, _ port: Int) async throws
        -> (WireAsset, [UInt8])
    {
        let path = process.uploadPath
        let (answer, digest) = try await RawHTTP.run {
            let piece = pattern(1 << 20)
            let connection = try RawConnection(port: port)
            try connection.send(
                "PUT \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                    + "Content-Length: \(pieces << 20)\r\n\r\n")
            var hash = SHA256()
            for _ in 0..<pieces {
                hash.update(piece)
                try connection.send(piece)
            }
            return (try connection.readAnswer(), hash.finalize())
        }
        #expect(answer?.status == 200)
        let json = try JSONParser.parse(try #require(answer).body)
        return (try AssetFixture.asset(try #require(json["singleFile"])), digest)
    }

    /// The digest of the body.
    private func download(_ checksum: Text, _ process: AssetProcess, _ port: Int) async throws
        -> [UInt8]
    {
        let path = process.downloadPath(checksum)
        return try await RawHTTP.run {
            let connection = try RawConnection(port: port)
            try connection.send("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
            var hash = SHA256()
            var head: [UInt8]? = []
            while let piece = try connection.readPiece() {
                guard let begun = head else {
                    hash.update(piece)
                    continue
                }
                let bytes = begun + piece
                guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else {
                    head = bytes
                    continue
                }
                head = nil
                hash.update(Array(bytes[end.upperBound...]))
            }
            return hash.finalize()
        }
    }

    @Test("250 MB come and go without being held in memory")
    func large() async throws {
        let process = try await AssetProcess()
        let server = try await ServerProcess.serve(data: process.folder.path)
        // What a first request takes for good is no part of it.
        let (small, _) = try await upload(8, process, server.port)
        try await process.refer(to: small.fileChecksum, size: small.size)
        _ = try await download(small.fileChecksum, process, server.port)
        let before = try peakMemory(server.pid)
        let (asset, digest) = try await upload(250, process, server.port)
        #expect(asset.size == 250 << 20)
        #expect(asset.fileChecksum.utf8 == Base64.encode([1] + digest.prefix(20)))
        let between = try peakMemory(server.pid)
        try await process.refer(to: asset.fileChecksum, size: asset.size)
        #expect(try await download(asset.fileChecksum, process, server.port) == digest)
        let after = try peakMemory(server.pid)
        #expect(
            after - before < 128 << 20,
            "\((between - before) >> 20) MB for the upload, \((after - between) >> 20) for the rest"
        )
    }

    @Test(
        "killed between bytes and row, or between row and answer, nothing is half there",
        arguments: [Failpoint.serverAssetStored, .serverAssetKnown])
    func killed(_ point: Failpoint) async throws {
        let process = try await AssetProcess()
        let bytes = pattern(300_000)
        let killed = try await ServerProcess.serve(
            data: process.folder.path,
            environment: ["RECORDFS_FAILPOINT": "\(point.rawValue):2"])
        let first = try await RawHTTP.request(
            port: killed.port, "POST", process.uploadPath, body: [1, 2, 3])
        #expect(first.status == 200)
        let answer = try? await RawHTTP.request(
            port: killed.port, "POST", process.uploadPath, body: bytes)
        #expect(answer == nil)
        #expect(try await killed.wait() == 128 + SIGKILL)
        let server = try await ServerProcess.serve(data: process.folder.path)
        try await recovered(process, point)
        let again = try await RawHTTP.request(
            port: server.port, "POST", process.uploadPath, body: bytes)
        #expect(again.status == 200)
        let file = try await process.assets.open(SHA256.hash(bytes))
        #expect(try await file.read(at: 0, count: 400_000) == bytes)
        let other = try await process.assets.open(SHA256.hash([1, 2, 3]))
        #expect(other.size == 3)
    }

    /// Waits until the start of the server has tidied up, and checks rows against files.
    private func recovered(_ process: AssetProcess, _ point: Failpoint) async throws {
        let directory = try process.assets
        let expected = point == .serverAssetStored ? 1 : 2
        let deadline = Deadline(seconds: 20)
        while true {
            let temporary = AssetFixture.names(in: directory.path + "/tmp")
            let files = try directory.folders().flatMap { folder throws(ServerError) in
                try directory.files(inFolder: folder)
            }
            if temporary.isEmpty, files.count == expected { break }
            try #require(!deadline.isOver, "\(temporary) \(files)")
            await Task.yield()
        }
        let rows = try await process.storage { (transaction) throws(ServerError) in
            try transaction.unreferencedAssets(before: .max, limit: 10)
        }
        #expect(rows.count == expected)
        for row in rows { #expect(directory.hasFile(row.sha256)) }
    }
}
