import Glibc
package import RecordModel

/// How far an interrupted import came: a small file in the store's `imports` directory, named by
/// what is imported where, so that a changed source starts afresh.
package struct ImportCheckpoint: Sendable {
    private let directory: String
    private let path: String

    /// For this source (by its path, size and time of change) and target.
    ///
    /// nil for a source that cannot be told apart from another one, such as a pipe.
    package init?(stateDirectory: String, source: String, target: RecordPath) {
        var status = stat()
        guard stat(source, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else { return nil }
        let place = [
            source, "\(status.st_size)", "\(status.st_mtim.tv_sec)", "\(status.st_mtim.tv_nsec)",
            target.description,
        ].joined(separator: "\n")
        directory = "\(stateDirectory)/imports"
        path = "\(directory)/\(SHA256.hash(Array(place.utf8)).hex.prefix(32)).json"
    }

    /// The rows that a run before this one had stored; 0 without such a run.
    package func rows() -> Int {
        do {
            let value = try JSONParser.parse(try readWholeFile(path))
            return max(0, Int(clamping: value.integerMember("rows") ?? 0))
        } catch {
            return 0
        }
    }

    /// Errors: `noSpace`, `ioFailure`. Call only when the rows are on stable storage.
    package func save(rows: Int) throws(RecordError) {
        mkdir(directory, 0o700)
        try writeWholeFile(
            JSONValue.members(["rows": .integer(rows)]).serialized(), to: path, mode: 0o600)
    }

    /// Forgets the run, because it came to its end.
    package func remove() {
        unlink(path)
    }
}
