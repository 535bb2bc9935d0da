import RecordModel
import RecordSQL
package import RecordServerCore
package import RecordWire

extension SQLiteStorage {
    package func inspect(
        assets: any AssetStore, deep: Bool
    ) async throws(ServerError) -> [Finding] {
        let database = database
        let faults = try await BackupThread.run { () throws(ServerError) -> [String] in
            do throws(RecordError) {
                return try database.read { connection throws(RecordError) in
                    try connection.all(
                        deep ? "PRAGMA integrity_check(20)" : "PRAGMA quick_check(20)"
                    ) { $0.string(0) }
                }
            } catch {
                throw DatabaseCopy.failure("checked", error)
            }
        }
        var findings: [Finding] = []
        if faults == ["ok"] {
            findings.append(
                Finding(.good, "database", deep ? "whole, with its indexes" : "whole"))
        } else {
            findings += faults.map { Finding(.bad, "database", $0) }
        }
        return findings + (try await AssetInspection.run(database, assets, deep: deep))
    }
}

/// Checks that the bytes of the assets that records refer to are there.
enum AssetInspection {
    private static let shownCount = 20

    static func run(
        _ database: any SQLReadable, _ assets: any AssetStore, deep: Bool
    ) async throws(ServerError) -> [Finding] {
        var count = 0
        var bad: [Finding] = []
        var hidden = 0
        try await AssetRows.each(database) { (row) throws(ServerError) in
            guard row.isReferenced else { return }
            count += 1
            guard let fault = try await fault(of: row, assets, deep: deep) else { return }
            if bad.count < shownCount {
                bad.append(Finding(.bad, "asset \(row.hash.hex)", fault))
            } else {
                hidden += 1
            }
        }
        if hidden > 0 { bad.append(Finding(.bad, "assets", "\(hidden) more like these")) }
        guard bad.isEmpty else { return bad }
        let how = deep ? "there, with the right bytes" : "there, with the right sizes"
        return [Finding(.good, "assets", "\(count) \(how)")]
    }

    static func fault(
        of row: AssetRows.Row, _ assets: any AssetStore, deep: Bool
    ) async throws(ServerError) -> String? {
        guard let asset = try await assets.find(row.hash) else { return "is missing" }
        guard asset.size == row.size else { return "has \(asset.size) of \(row.size) bytes" }
        guard deep else { return nil }
        var hash = SHA256()
        var offset: Int64 = 0
        while offset < asset.size {
            let bytes = try await asset.read(at: offset, count: 1 << 18)
            guard !bytes.isEmpty else { break }
            hash.update(bytes)
            offset += Int64(bytes.count)
        }
        return Hexadecimal.encode(hash.finalize()) == row.hash.hex ? nil : "has other bytes"
    }
}
