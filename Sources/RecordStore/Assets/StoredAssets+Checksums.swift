package import RecordModel
import RecordSQL

/// The names that a server uses for the bytes of assets, where it does not report their SHA-256.
/// The store keeps the hash of the bytes for each name that it has ever seen. A name never belongs
/// to other bytes.
extension StoredAssets {
    /// Returns the hash of the bytes with a name. Returns nil for a name that was never seen.
    package func hash(ofAsset name: Text) throws(RecordError) -> ContentHash? {
        try store.read { connection throws(RecordError) in
            try connection.first("SELECT value FROM meta WHERE key = ?", [.text(Self.key(name))]) {
                ContentHash(digits: Text($0.string(0)))
            } ?? nil
        }
    }

    static func key(_ name: Text) -> String { "asset \(name.string)" }
}

extension AssetWriting {
    /// Notes the name that the server uses for these bytes.
    package func noteAsset(_ name: Text, _ hash: ContentHash) throws(RecordError) {
        try transaction.connection.run(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [.text(StoredAssets.key(name)), .text(hash.hex)])
    }
}
