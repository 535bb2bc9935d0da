package import RecordModel
import RecordSQL

/// A file that follows a renamed record when the grace time is over. Until then the field has the
/// file that had the name before, because the tool may rename the files itself.
package struct Follow: Sendable {
    package let target: RecordID
    package let field: FieldName
    let source: RecordID
    let hash: ContentHash
    let size: Int64
    let fileExtension: [UInt8]
    /// The file that the field has meanwhile. Nil where that is not known.
    let instead: ContentHash?
    let since: Timestamp

    /// Returns whether the file may replace the present one. Bytes that somebody has written since,
    /// here or on another machine, are later and stay.
    func isDue(over current: AssetEntry) -> Bool {
        current.index == nil && (instead.map { $0 == current.hash } ?? true)
    }
}

extension AssetWriting {
    /// Notes which files are to follow a record that was just saved or renamed. Files that were to
    /// follow its previous state stay where they are.
    package func setFollows(_ files: MovedFiles, of target: RecordID) throws(RecordError) {
        guard let following = files.following else { return }
        try transaction.connection.run(
            "DELETE FROM follow WHERE record_id = ?", [.integer(target.rawValue)])
        for asset in following {
            guard let hash = asset.hash else { continue }
            let own = files.own.first { $0.field == asset.field }
            try transaction.connection.run(
                "INSERT OR REPLACE INTO follow VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    .integer(target.rawValue), .name(asset.field),
                    .integer(asset.record.rawValue), .text(hash.hex), .integer(asset.size),
                    .blob(asset.fileExtension), .optional(own?.hash?.hex), .time(transaction.now),
                ])
        }
    }

    /// Lets a file stay where a tool has moved it.
    package func stopFollowing(_ asset: AssetEntry) throws(RecordError) {
        guard asset.index == nil else { return }
        try transaction.connection.run(
            "DELETE FROM follow WHERE source = ? AND field = ?",
            [.integer(asset.record.rawValue), .name(asset.field)])
    }

    /// Leaves the field the file that a tool has given it.
    func stopFollowing(to record: RecordID, _ field: FieldName) throws(RecordError) {
        try transaction.connection.run(
            "DELETE FROM follow WHERE record_id = ? AND field = ?",
            [.integer(record.rawValue), .name(field)])
    }

    /// Gives a record that is about to move elsewhere the files that were to follow it.
    func finishFollowing(to record: RecordID) throws(RecordError) {
        for follow in try transaction.connection.records.follows(to: record) { try finish(follow) }
    }

    /// Gives all records the files that were to follow them.
    func finishFollowing() throws(RecordError) {
        for follow in try transaction.connection.records.follows(until: .max) { try finish(follow) }
    }

    func finish(_ follow: Follow) throws(RecordError) {
        try stopFollowing(to: follow.target, follow.field)
        guard try transaction.records.record(follow.target)?.state == .saved,
            let current = try transaction.records.asset(follow.target, follow.field, nil),
            follow.isDue(over: current)
        else { return }
        try setAsset(
            follow.target, follow.field, nil, follow.hash, size: follow.size,
            fileExtension: follow.fileExtension)
    }
}

extension StoredAssets {
    /// Gives the records the files that have waited for this time.
    ///
    /// - Parameter age: nil for all files, when no tool can move them any more.
    /// - Returns: the files that could not follow. They wait until they are dropped.
    package func finishFollowing(
        olderThan age: Duration?
    ) throws(RecordError) -> [(follow: Follow, error: RecordError)] {
        let limit = age.map { (store.options.clock.now - $0).nanoseconds } ?? .max
        let due = try store.read { connection throws(RecordError) in
            try connection.records.follows(until: limit)
        }
        var failed: [(follow: Follow, error: RecordError)] = []
        for follow in due {
            do throws(RecordError) {
                try store.write(author: .mount, isFreeing: true) {
                    transaction throws(RecordError) in
                    // A tool may have moved more files meanwhile.
                    let now = try transaction.connection.records.follows(to: follow.target)
                    guard let current = now.first(where: { $0.field == follow.field }) else {
                        return
                    }
                    try transaction.assets.finish(current)
                }
            } catch {
                failed.append((follow, error))
            }
        }
        return failed
    }

    package func drop(_ follow: Follow) throws(RecordError) {
        try store.write(author: .mount, isFreeing: true) { transaction throws(RecordError) in
            try transaction.assets.stopFollowing(to: follow.target, follow.field)
        }
    }

    /// Returns the time since which the oldest of the files that can follow now has waited. Returns
    /// nil when there is none.
    package func firstFollowing() throws(RecordError) -> Timestamp? {
        try store.read { connection throws(RecordError) in
            try connection.records.follows(until: .max).map(\.since).min()
        }
    }

    /// Returns the files of a record as they will be when the files that follow it have arrived.
    package func files(
        _ shown: [AssetEntry], of record: RecordID
    ) throws(RecordError) -> [AssetEntry] {
        try store.read { connection throws(RecordError) in
            var files = shown
            for follow in try connection.records.follows(to: record) {
                guard let current = try connection.records.asset(record, follow.field, nil),
                    follow.isDue(over: current)
                else { continue }
                files.removeAll { $0.id == current.id }
                files.append(current.replaced(by: follow))
            }
            return files
        }
    }
}

extension RecordRows {
    private static let columns = "record_id, field, source, hash, size, ext, instead, since"

    fileprivate func follows(to record: RecordID) throws(RecordError) -> [Follow] {
        try connection.all(
            "SELECT \(Self.columns) FROM follow WHERE record_id = ? ORDER BY field",
            [.integer(record.rawValue)]
        ) { $0.follow() }
    }

    /// Returns the files that follow existing records. A record that waits for its deletion may
    /// come back.
    fileprivate func follows(until limit: Int64) throws(RecordError) -> [Follow] {
        try connection.all(
            """
            SELECT \(Self.columns) FROM follow f
            WHERE since <= ? AND EXISTS (
                SELECT 1 FROM record r WHERE r.id = f.record_id AND r.state = 0)
            ORDER BY record_id, field
            """, [.integer(limit)]
        ) { $0.follow() }
    }
}

extension SQLStatement {
    fileprivate func follow() -> Follow {
        Follow(
            target: RecordID(int64(0)), field: FieldName(bytes: bytes(1)),
            source: RecordID(int64(2)), hash: ContentHash(hex: string(3)), size: int64(4),
            fileExtension: bytes(5), instead: isNull(6) ? nil : ContentHash(hex: string(6)),
            since: time(7))
    }
}

extension AssetEntry {
    fileprivate func replaced(by follow: Follow) -> AssetEntry {
        AssetEntry(
            id: id, record: follow.source, type: type, stem: stem, field: field, index: index,
            kind: .file, hash: follow.hash, size: follow.size,
            fileExtension: follow.fileExtension, isDownloaded: isDownloaded, modified: modified,
            statusChanged: statusChanged, isLeaving: false)
    }
}
