package import RecordModel
import RecordSQL

/// What a server calls the bytes of assets, where it does not tell their SHA-256: of each name that was
/// ever seen, which bytes it was. A name is never of other bytes.
extension RecordStore {
    /// Nil for one that was never seen.
    package func hash(ofAsset name: Text) throws(RecordError) -> ContentHash? {
        try read { connection throws(RecordError) in
            try connection.first("SELECT value FROM meta WHERE key = ?", [.text(Self.key(name))]) {
                ContentHash(digits: Text($0.string(0)))
            } ?? nil
        }
    }

    static func key(_ name: Text) -> String { "asset \(name.string)" }
}

extension Transaction {
    /// The server calls these bytes so.
    package func noteAsset(_ name: Text, _ hash: ContentHash) throws(RecordError) {
        try connection.run(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)",
            [.text(RecordStore.key(name)), .text(hash.hex)])
    }
}
