package import RecordSQL

/// The statements of the store, which a reader and a transaction have in common.
extension SQLConnection {
    /// The statements on records, their names, their texts and their places.
    package var records: RecordRows { RecordRows(connection: self) }
    /// The statements on what is known of the server: the outbox, bases, shares and the feed.
    package var sync: SyncRows { SyncRows(connection: self) }
}

/// Reads and writes the rows of the exchange with the server.
package struct SyncRows {
    package let connection: SQLConnection
}
