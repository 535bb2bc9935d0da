import Glibc
import RecordModel
import RecordSQL
import RecordServerCore
import RecordWire

/// A copy of a database while it is in use.
enum DatabaseCopy {
    /// Makes a copy with SQLite's online backup, as of one point in time. Returns the copy, open,
    /// and its size in bytes.
    static func make(
        of source: any SQLReadable, at path: String
    ) throws(ServerError) -> (SQLQueue, bytes: Int64) {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ServerError.file("make", path, errno) }
        Glibc.close(descriptor)
        do throws(RecordError) {
            let copy = try SQLQueue(path: path)
            try source.copy(to: copy)
            return (copy, try size(of: copy))
        } catch {
            throw failure("copied", error)
        }
    }

    private static func size(of copy: SQLQueue) throws(RecordError) -> Int64 {
        try copy.use { connection throws(RecordError) in
            let pages = try connection.first("PRAGMA page_count") { $0.int64(0) } ?? 0
            return pages * (try connection.first("PRAGMA page_size") { $0.int64(0) } ?? 0)
        }
    }

    static func failure(_ what: String, _ error: RecordError) -> ServerError {
        ServerError(.internalError, "The database could not be \(what): \(error.message)")
    }
}

/// The assets of a database by content, in the databases of all users.
struct AssetRows {
    struct Row: Sendable {
        let hash: ContentHash
        let size: Int64
        let isReferenced: Bool
    }

    /// The number of rows that one read returns, so that no read of a database in use is long.
    private static let portion: Int64 = 1_000

    static func each(
        _ database: any SQLReadable, _ body: (Row) async throws(ServerError) -> Void
    ) async throws(ServerError) {
        var last = ""
        while true {
            let start = last
            let rows = try await BackupThread.run { () throws(ServerError) -> [Row] in
                do throws(RecordError) {
                    return try database.read { connection throws(RecordError) in
                        try portion(connection, after: start)
                    }
                } catch {
                    throw DatabaseCopy.failure("read", error)
                }
            }
            for row in rows { try await body(row) }
            guard let end = rows.last else { return }
            last = end.hash.hex
        }
    }

    private static func portion(
        _ connection: SQLConnection, after hash: String
    ) throws(RecordError) -> [Row] {
        try connection.all(
            """
            SELECT sha256, max(size), max(reference_count) > 0 FROM assets WHERE sha256 > ?
            GROUP BY sha256 ORDER BY sha256 LIMIT ?
            """, [.text(hash), .integer(portion)]
        ) {
            Row(
                hash: ContentHash(hex: $0.string(0)), size: $0.int64(1),
                isReferenced: $0.bool(2))
        }
    }
}
