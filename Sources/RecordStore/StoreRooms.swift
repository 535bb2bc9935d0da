/// The rooms of a store. Each has the operations of one concern.
extension RecordStore {
    package var assets: StoredAssets { StoredAssets(store: self) }
    package var index: RecordIndex { RecordIndex(store: self) }
    package var upkeep: StoreUpkeep { StoreUpkeep(store: self) }
    package var syncState: SyncState { SyncState(store: self) }
    package var sharing: SharedZones { SharedZones(store: self) }
    package var past: RecordHistory { RecordHistory(store: self) }
    package var moments: StoredMoments { StoredMoments(store: self) }
    package var model: StoreModel { StoreModel(store: self) }
}

/// The large fields of records and their files.
package struct StoredAssets: Sendable {
    package let store: RecordStore
}

/// The indexes of words and of values, and the queries that use them.
package struct RecordIndex: Sendable {
    package let store: RecordStore
}

/// Keeps the store sound and small: checks, retention, space and the clock.
package struct StoreUpkeep: Sendable {
    package let store: RecordStore

    /// The number of deletions that one transaction makes final. The mount can save between two
    /// transactions.
    static let batchSize: Int64 = 200
}

/// The state of the exchange with the server, as the store knows it.
package struct SyncState: Sendable {
    package let store: RecordStore
}

/// Shares, invitations, quotas, and what the user may do in the zones of others.
package struct SharedZones: Sendable {
    package let store: RecordStore
}

/// The model that is attached, and what it says of types.
package struct StoreModel: Sendable {
    package let store: RecordStore
}

/// Earlier versions of records, deleted records, and where records have moved.
package struct RecordHistory: Sendable {
    package let store: RecordStore
}

/// The tree as it was at each moment, and the moments with a name.
package struct StoredMoments: Sendable {
    package let store: RecordStore
}
