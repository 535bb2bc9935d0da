import Glibc
package import RecordModel

/// The progress of an interrupted import: a small file in the store's `imports` directory. Its name
/// depends on the source and the target, so that a changed source starts from the beginning.
package struct ImportCheckpoint: Sendable {
    private let directory: String
    private let path: String

    /// Creates the checkpoint for this source (by its path, size and time of change) and target.
    ///
    /// Returns nil for a source that cannot be distinguished from another one, such as a pipe.
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

    /// Returns the number of rows that an earlier run stored. Returns 0 when there was no such run.
    package func rows() -> Int {
        do {
            let value = try JSONParser.parse(try readWholeFile(path))
            return max(0, Int(clamping: value.integerMember("rows") ?? 0))
        } catch {
            return 0
        }
    }

    /// Stores the number of rows. Call it only when the rows are on stable storage.
    ///
    /// Errors: `noSpace`, `ioFailure`.
    package func save(rows: Int) throws(RecordError) {
        mkdir(directory, 0o700)
        try writeWholeFile(
            JSONValue.members(["rows": .integer(rows)]).serialized(), to: path, mode: 0o600)
    }

    /// Removes the checkpoint after a complete run.
    package func remove() {
        unlink(path)
    }
}
