package import RecordStore

extension Transaction {
    package var feed: FeedApplying { FeedApplying(transaction: self) }
}

/// Applies the pages of the server's feeds.
package struct FeedApplying {
    let transaction: Transaction
}
