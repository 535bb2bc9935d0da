package import RecordModel

/// What happened to a record, a place or a draft. The raw value is stored.
package enum ChangeKind: String, Sendable, CaseIterable {
    case created, updated, deleted, waiting, restored, draft, asset
    case zoneMade, zoneRemoved, typeMade, typeRemoved
    /// What may be done in a zone is another. In no history.
    case permission
    /// A share came, changed or went. In no history.
    case share
    /// An edit lost against another one, and is kept beside the record.
    case conflict
    /// A record, type or zone keeps its large fields here from now on. In no history.
    case pinned
    /// The exchange with the record server has done something, or failed. In no history.
    case exchanged
    /// Only the text, times or draft state changed, not the values.
    case text
}

/// One version of a record that this machine has seen, without its text.
package struct Version: Hashable, Sendable {
    package let token: Int64
    package let at: Timestamp
    package let author: Author
    package let kind: ChangeKind
    package let type: RecordTypeName
    package let name: RecordName
    package let size: Int64
}

/// One row of history: an accepted change of values.
package struct HistoryRow: Sendable {
    package let token: Int64
    package let at: Timestamp
    package let author: Author
    package let kind: ChangeKind
    package let database: Database
    package let zone: ZoneID
    package let type: RecordTypeName
    package let name: RecordName
    package let record: RecordID
    package let changedFields: [FieldName]
    /// Empty for a deletion.
    package let text: [UInt8]
}

/// A deleted record, kept for 30 days.
package struct TrashEntry: Hashable, Sendable {
    package let id: Int64
    package let zone: ZoneID
    package let type: RecordTypeName
    package let name: RecordName
    package let stem: Stem
    package let deleted: Timestamp
    package let author: Author
    package let size: Int64
}

/// What observers hear after a commit.
package struct StoreChange: Hashable, Sendable {
    package let author: Author
    package let kind: ChangeKind
    package let zone: ZoneID
    package let type: TypeID?
    package let record: RecordID?
    package let stem: Stem?
    /// The history row, when the change made one.
    package let token: Int64?
    /// For `asset`: which file came, changed or went.
    package let asset: AssetID?
    /// The file whose name another one has taken, or that has lost it.
    package let replaced: RecordFile?
    package let effect: FileEffect
    /// For `waiting`: the files that go with the record when its delete becomes final.
    package let waitingAssets: [AssetEntry]
    /// The name under which the record showed before, where it shows under another one since this
    /// commit.
    package let former: Stem?
    /// For `exchanged`: what it was.
    package var exchange: SyncEvent?
    /// For `share`: what others have done.
    package var shareNews: [ShareNews] = []
    /// For `deleted` and `waiting`: what the record is now, where it has another name, type or zone.
    package var movedTo: RecordID?
    /// What the commit has done to the names of asset files, told with its last change.
    package var assetNames = AssetNameChanges()
}
