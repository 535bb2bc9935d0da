package import RecordModel

/// The kind of a change to a record, a place or a draft. The raw value is stored.
package enum ChangeKind: String, Sendable, CaseIterable {
    case created, updated, deleted, waiting, restored, draft, asset
    case zoneMade, zoneRemoved, typeMade, typeRemoved
    /// The permissions in a zone changed. In no history.
    case permission
    /// A share was added, changed or removed. In no history.
    case share
    /// An edit lost against another one and is kept beside the record.
    case conflict
    /// From now on a record, type or zone keeps the content of its large fields on this machine. In
    /// no history.
    case pinned
    /// The exchange with the record server has done something, or it failed. In no history.
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
    /// The fields that differ from the version before. Empty for a deletion.
    package internal(set) var fields: [FieldName]
    /// The name that the program has given itself which made the change.
    package let program: AuthorName?
    /// The token of the first change of the same transaction.
    package let transaction: Int64
    /// The author on the machine that made the change. Nil for a change of this machine, and for one
    /// of a machine that has not told it.
    package let origin: Author?

    /// The author as commands show it: the program, or the way in which the change came.
    package var shownAuthor: String { program?.text ?? (origin ?? author).rawValue }
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
    /// The text of the record. Empty for a deletion.
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

/// A change that observers receive after a commit.
package struct StoreChange: Hashable, Sendable {
    package let author: Author
    /// The name that the program has given itself which made the change.
    package let program: AuthorName?
    package let kind: ChangeKind
    package let zone: ZoneID
    package let type: TypeID?
    package let record: RecordID?
    package let stem: Stem?
    /// The history row, when the change made one.
    package let token: Int64?
    /// The file that was added, changed or removed, for `asset`.
    package let asset: AssetID?
    /// The file that lost its name, also because another file took it.
    package let replaced: RecordFile?
    package let effect: FileEffect
    /// The files that are deleted together with the record when its deletion becomes final, for
    /// `waiting`.
    package let waitingAssets: [AssetEntry]
    /// The name under which the record was shown before, if this commit changed it.
    package let former: Stem?
    /// The name of the type, for `typeMade` and `typeRemoved`: a removed type is no longer found.
    package var typeName: RecordTypeName?
    /// The exchange that happened, for `exchanged`.
    package var exchange: SyncEvent?
    /// The actions of other users, for `share`.
    package var shareNews: [ShareNews] = []
    /// Indicates whether nobody has asked for this change: it follows from another one, by a
    /// relationship of the attached model. The mount does not know of it, even as the author.
    package var isConsequence = false
    /// The record that replaces it under another name, type or zone, for `deleted` and `waiting`.
    package var movedTo: RecordID?
    /// The changes of the commit to the names of asset files. They are reported with its last
    /// change.
    package var assetNames = AssetNameChanges()
}
