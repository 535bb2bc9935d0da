package import RecordModel
import RecordSQL

extension Transaction {
    /// Applies a page of what the server reports of a zone, and remembers the token that ends it:
    /// both, or neither. The page may come again without effect.
    ///
    /// Makes history by the transaction's author, who has to be `sync`. Drafts stay.
    /// Errors: notFound for the zone; invalidArgument for another author.
    package func applyRemote(_ page: RemotePage) throws(RecordError) -> [RemoteResult] {
        var application = try RemoteApplication(self, page.zone)
        var results: [RemoteResult] = []
        results.reserveCapacity(page.changes.count)
        for change in page.changes { results.append(try application.apply(change)) }
        if let token = page.token { try setFeedToken(token, of: .zone(page.zone)) }
        return results
    }

    /// Applies one change, as the page that has it would.
    package func applyRemote(
        _ change: RemoteChange, in zone: ZoneID
    ) throws(RecordError) -> RemoteResult {
        var application = try RemoteApplication(self, zone)
        return try application.apply(change)
    }

    /// Up to where a feed was applied. Nil begins it anew, as after an expired token.
    package func setFeedToken(_ token: [UInt8]?, of feed: Feed) throws(RecordError) {
        let key: [SQLValue] = [.integer(feed.database), .integer(feed.zone)]
        guard let token else {
            return try connection.run(
                "DELETE FROM feed_token WHERE database = ? AND zone_id = ?", key)
        }
        try connection.run(
            "INSERT OR REPLACE INTO feed_token VALUES (?, ?, ?)", key + [.blob(token)])
    }
}

extension RecordStore {
    /// The token to continue a feed with; nil when nothing of it was applied yet.
    package func feedToken(of feed: Feed) throws(RecordError) -> [UInt8]? {
        try read { connection throws(RecordError) in
            try connection.first(
                "SELECT token FROM feed_token WHERE database = ? AND zone_id = ?",
                [.integer(feed.database), .integer(feed.zone)]
            ) { $0.bytes(0) }
        }
    }
}

extension Feed {
    /// Zone numbers begin with 1, databases too.
    fileprivate var database: Int64 {
        switch self {
        case .database(let database): database.rawValue
        case .zone: 0
        }
    }

    fileprivate var zone: Int64 {
        switch self {
        case .database: 0
        case .zone(let zone): zone.rawValue
        }
    }
}
