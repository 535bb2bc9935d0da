import Glibc
import RecordModel
import RecordServerCore
import RecordServerSQLite
import RecordWire
import Testing

/// A storage that the conformance suite is run over. Another one is one more line of `all`.
struct StorageSubject: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let open: @Sendable () throws -> OpenedStorage

    static let all: [StorageSubject] = [
        StorageSubject(testDescription: "SQLite on disk") {
            let directory = try StorageDirectory()
            return OpenedStorage(try SQLiteStorage.open(path: directory.database), directory)
        },
        StorageSubject(testDescription: "SQLite in memory") {
            OpenedStorage(try SQLiteStorage.open(path: nil), nil)
        },
    ]
}

/// A fresh storage, closed and removed with this object.
final class OpenedStorage: Sendable {
    let storage: any Storage
    private let sqlite: SQLiteStorage
    private let directory: StorageDirectory?

    init(_ sqlite: SQLiteStorage, _ directory: StorageDirectory?) {
        storage = sqlite
        self.sqlite = sqlite
        self.directory = directory
    }

    deinit {
        sqlite.close()
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageReader) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value { try await storage.read(body) }

    @discardableResult
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageTransaction) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value { try await storage.write(body) }
}

/// A directory of one test, removed with this object.
final class StorageDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/recordfs-storage-XXXXXX".utf8CString)
        let made = mkdtemp(&template) != nil
        try #require(made, "mkdtemp failed")
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    var database: String { "\(path)/records.sqlite" }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        for name in names(path) {
            let child = "\(path)/\(name)"
            if unlink(child) != 0 { remove(child) }
        }
        rmdir(path)
    }

    static func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    /// Names in a directory, without `.` and `..`; none where there is no directory.
    static func names(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
