import Glibc
import Logging
import RecordControl
import RecordModel
import RecordStore
import Testing

/// A directory of its own for a test, removed with the last reference.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/recordfs-control-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        for entry in Self.tree(path).reversed() { remove(entry) }
    }

    func file(_ name: String, _ content: String) throws -> String {
        let place = "\(path)/\(name)"
        try writeWholeFile(Array(content.utf8), to: place)
        return place
    }

    private static func tree(_ path: String) -> [String] {
        var paths = [path]
        guard let directory = opendir(path) else { return paths }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            var status = stat()
            let place = "\(path)/\(name)"
            guard lstat(place, &status) == 0 else { continue }
            paths += status.st_mode & S_IFMT == S_IFDIR ? tree(place) : [place]
        }
        return paths
    }
}

extension RecordStore {
    static func temporary(_ directory: TemporaryDirectory) throws -> RecordStore {
        try RecordStore.open(directory: "\(directory.path)/state", options: .quiet)
    }

    /// The saved text at a path.
    func text(at path: String) throws -> String? {
        let entry = try record(at: try RecordPath(path))
        return try savedText(of: entry.id).map { String(decoding: $0, as: UTF8.self) }
    }

    func names(in path: String) throws -> [String] {
        try records(in: try type(at: try RecordPath(path)).id, limit: 1_000_000).map {
            $0.stem.description
        }
    }
}

extension StoreOptions {
    static var quiet: StoreOptions { StoreOptions(logger: .quiet) }
}

extension Logger {
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// A store with a control server on its socket and a client of it, all real.
final class ServedStore: Sendable {
    let directory: TemporaryDirectory
    let store: RecordStore
    let server: ControlServer
    let client: ControlClient

    init() throws {
        directory = try TemporaryDirectory()
        store = try RecordStore.temporary(directory)
        let executor = ControlExecutor(
            store: store, isForTests: true, status: { .members(["pid": .integer(getpid())]) })
        server = try ControlServer(directory: store.directory, logger: .quiet) {
            (request, author) throws(RecordError) in try executor.run(request, by: author)
        }
        client = try #require(try ControlClient.connect(directory: store.directory))
    }

    deinit {
        server.stop()
    }

    @discardableResult
    func put(_ path: String, _ text: String) throws -> String? {
        try client.perform(.put(try RecordPath(path), text: Array(text.utf8)))
            .result.stringMember("outcome")
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// The error that the body throws; the test fails when there is none.
func error(
    _ location: SourceLocation = #_sourceLocation, of body: () throws -> Void
) throws -> RecordError {
    do {
        try body()
    } catch let error as RecordError {
        return error
    }
    Issue.record("expected an error", sourceLocation: location)
    throw RecordError(.invalidArgument, "no error")
}
