import Glibc
import RecordModel
import RecordWire
import ServerTestSupport
import TestSupport
import Testing

@testable import RecordServerCore

@Suite("Asset directory") struct AssetDirectoryTests {
    private let folder: TemporaryDirectory
    private let directory: AssetDirectory

    init() throws {
        folder = try TemporaryDirectory()
        directory = try AssetDirectory(path: folder.path + "/assets")
    }

    private var temporaries: [String] { AssetFixture.names(in: directory.path + "/tmp") }

    private func read(_ hash: ContentHash) async throws -> [UInt8] {
        let file = try await directory.open(hash)
        return try await file.read(at: 0, count: Int(file.size))
    }

    @Test("bytes come back under their SHA-256", arguments: [0, 1, 65_535, 65_536, 1_000_000])
    func stored(_ size: Int) async throws {
        let bytes = pattern(size)
        let asset = try await directory.begin()
        for start in stride(from: 0, to: size, by: 70_000) {
            try await asset.append(Array(bytes[start..<min(start + 70_000, size)]))
        }
        let (hash, stored) = try await asset.place()
        #expect(hash == SHA256.hash(bytes))
        #expect(stored == Int64(size))
        #expect(try await read(hash) == bytes)
    }

    @Test("the same content is one file, and nothing else is left")
    func once() async throws {
        for _ in 0..<2 {
            let asset = try await directory.begin()
            try await asset.append([1, 2, 3])
            let (hash, _) = try await asset.place()
            try await asset.confirm(hash)
        }
        #expect(temporaries.isEmpty)
        #expect(try directory.folders().count == 1)
        let folder = try #require(try directory.folders().first)
        #expect(AssetFixture.names(in: directory.path + "/" + folder).count == 1)
    }

    @Test("an upload that is given up leaves nothing")
    func abandoned() async throws {
        do {
            let asset = try await directory.begin()
            try await asset.append(pattern(100_000))
            #expect(temporaries.count == 1)
        }
        #expect(temporaries.isEmpty)
        #expect(try directory.folders().isEmpty)
    }

    @Test("a full disk is said to be one, for later, and nothing is left")
    func full() async throws {
        let calls = FileCalls { descriptor, bytes in
            guard lseek(descriptor, 0, SEEK_CUR) < 1000 else {
                errno = ENOSPC
                return -1
            }
            return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, 600))
        }
        let directory = try AssetDirectory(path: folder.path + "/full", calls: calls)
        do {
            let asset = try await directory.begin()
            let error = await #expect(throws: ServerError.self) {
                try await asset.append(pattern(5000))
            }
            #expect(error?.code == .tryAgainLater)
            #expect(error?.retryAfter != nil)
            #expect(error?.reason.contains("no space") == true)
        }
        #expect(AssetFixture.names(in: directory.path + "/tmp").isEmpty)
        #expect(try directory.folders().isEmpty)
    }

    @Test("a write that takes only a part is continued, and an interrupted one repeated")
    func shortWrites() async throws {
        let calls = FileCalls { descriptor, bytes in
            if Bool.random() {
                errno = EINTR
                return -1
            }
            return Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, 777))
        }
        let directory = try AssetDirectory(path: folder.path + "/short", calls: calls)
        let asset = try await directory.begin()
        let bytes = pattern(50_000)
        try await asset.append(bytes)
        let (hash, _) = try await asset.place()
        let file = try await directory.open(hash)
        #expect(try await file.read(at: 0, count: 60_000) == bytes)
    }

    @Test("what a crash left is removed at start, and not what is going on")
    func leftovers() async throws {
        let live = try await directory.begin()
        try await live.append([1])
        let stray = directory.path + "/tmp/stray"
        Glibc.close(creat(stray, 0o600))
        try await directory.removeLeftovers()
        #expect(temporaries.count == 1)
        #expect(!temporaries.contains("stray"))
        let (hash, _) = try await live.place()
        #expect(try await read(hash) == [1])
    }

    @Test("an open file keeps its bytes when its name goes")
    func held() async throws {
        let asset = try await directory.begin()
        try await asset.append(pattern(300_000))
        let (hash, _) = try await asset.place()
        let file = try await directory.open(hash)
        let doomed = try #require(try directory.doom(hash))
        try directory.destroy(doomed)
        #expect(
            try await file.read(at: 200_000, count: 200_000) == Array(pattern(300_000)[200_000...]))
        let error = await #expect(throws: ServerError.self) { _ = try await directory.open(hash) }
        #expect(error?.code == .internalError)
    }

    @Test("a file whose removal is being decided can be read")
    func doomed() async throws {
        let asset = try await directory.begin()
        try await asset.append([5, 6])
        let (hash, _) = try await asset.place()
        _ = try #require(try directory.doom(hash))
        #expect(try await read(hash) == [5, 6])
    }

    @Test("a link or a pipe in place of an asset is not followed and does not block")
    func strangers() async throws {
        let hash = SHA256.hash([1])
        mkdir(directory.folder(of: hash), 0o700)
        #expect(symlink("/etc/passwd", directory.path(of: hash)) == 0)
        await #expect(throws: ServerError.self) { _ = try await directory.open(hash) }
        unlink(directory.path(of: hash))
        #expect(mkfifo(directory.path(of: hash), 0o600) == 0)
        await #expect(throws: ServerError.self) { _ = try await directory.open(hash) }
    }

    @Test("files are for nobody but the server's user")
    func mode() async throws {
        let asset = try await directory.begin()
        try await asset.append([1])
        let (hash, _) = try await asset.place()
        var information = Glibc.stat()
        #expect(stat(directory.path(of: hash), &information) == 0)
        #expect(information.st_mode & 0o777 == 0o600)
        #expect(stat(directory.path, &information) == 0)
        #expect(information.st_mode & 0o777 == 0o700)
    }
}
