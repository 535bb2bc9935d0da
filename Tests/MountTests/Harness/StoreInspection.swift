import Foundation

/// What the store holds, read beside the daemon with the sqlite3 program: a witness that shares
/// no code with what is tested.
struct StoreInspection {
    let database: String

    struct Record: Equatable {
        let id: Int
        let created: Int
        let generation: Int
    }

    struct Draft: Equatable {
        let text: String
        let line: Int?
        let column: Int?
        let message: String
    }

    /// The rows of a query, each a dictionary of its columns.
    func rows(_ query: String) throws -> [[String: Any]] {
        let output = try succeed(
            "sqlite3", "-readonly", "-json", "-cmd", ".timeout 5000", database, query)
        if output.isEmpty { return [] }
        let value = try JSONSerialization.jsonObject(with: Data(output.utf8))
        return value as? [[String: Any]] ?? []
    }

    func count(_ query: String) throws -> Int {
        try rows("SELECT count(*) AS n FROM \(query)").first?["n"] as? Int ?? -1
    }

    /// The stems of all records that are there, in byte order.
    func stems() throws -> [String] {
        try rows("SELECT CAST(stem AS TEXT) AS stem FROM record WHERE state = 0 ORDER BY stem")
            .compactMap { $0["stem"] as? String }
    }

    func record(_ stem: String) throws -> Record? {
        try rows(
            "SELECT id, created, generation FROM record "
                + "WHERE CAST(stem AS TEXT) = '\(stem)' AND state = 0"
        ).first.map { row in
            Record(
                id: row["id"] as? Int ?? 0, created: row["created"] as? Int ?? 0,
                generation: row["generation"] as? Int ?? 0)
        }
    }

    /// The text of the record itself, whatever draft its file shows.
    func savedText(_ stem: String) throws -> String? {
        try rows(
            "SELECT CAST(text AS TEXT) AS text FROM saved_text JOIN record ON id = record_id "
                + "WHERE CAST(stem AS TEXT) = '\(stem)'"
        ).first?["text"] as? String
    }

    func draft(_ stem: String) throws -> Draft? {
        try rows(
            "SELECT CAST(text AS TEXT) AS text, line, text_column, message FROM draft "
                + "JOIN record ON id = record_id WHERE CAST(stem AS TEXT) = '\(stem)'"
        ).first.map { row in
            Draft(
                text: row["text"] as? String ?? "", line: row["line"] as? Int,
                column: row["text_column"] as? Int, message: row["message"] as? String ?? "")
        }
    }

    /// The kinds of the versions of a record, oldest first.
    func history(_ name: String) throws -> [String] {
        try rows(
            "SELECT kind FROM history WHERE CAST(name AS TEXT) = '\(name)' ORDER BY token"
        ).compactMap { $0["kind"] as? String }
    }

    /// How many changes of a record wait for upload.
    func outbox(_ name: String) throws -> Int {
        try count("outbox WHERE CAST(name AS TEXT) = '\(name)'")
    }

    func drafts() throws -> Int { try count("draft") }
    func trash() throws -> Int { try count("trash") }

    /// `ok`, or what PRAGMA integrity_check found.
    func integrity() throws -> String {
        try rows("PRAGMA integrity_check").compactMap { $0["integrity_check"] as? String }
            .joined(separator: "\n")
    }
}

extension MountedStore {
    var store: StoreInspection { StoreInspection(database: "\(state)/store.sqlite") }

    /// Makes a zone and a record type, and gives the TYPE directory.
    func makeType(_ path: String = "private/Kitchen/Recipe") throws -> String {
        let directory = "\(mountPoint)/\(path)"
        try SystemCall.makeDirectories(directory)
        return directory
    }
}
