package import RecordModel
package import RecordWire

/// A zone as stored.
package struct ZoneRow: Hashable, Sendable {
    package let key: ZoneKey
    package let handle: ZoneHandle
    /// Random at creation: tokens of an earlier zone of the same name do not fit.
    package let incarnation: UInt64
    /// The position of the last change; positions are 1, 2, 3 ... in the order of commits.
    package var position: Int64
    /// Tombstones at or before this position are gone: older tokens have expired.
    package var horizon: Int64
    /// Records that are not deleted.
    package var recordCount: Int64
    /// Bytes of their fields, without assets.
    package var recordBytes: Int64

    package init(
        key: ZoneKey, handle: ZoneHandle, incarnation: UInt64, position: Int64 = 0,
        horizon: Int64 = 0, recordCount: Int64 = 0, recordBytes: Int64 = 0
    ) {
        self.key = key
        self.handle = handle
        self.incarnation = incarnation
        self.position = position
        self.horizon = horizon
        self.recordCount = recordCount
        self.recordBytes = recordBytes
    }
}

package enum DeletionReason: String, CaseIterable, Sendable {
    /// By its owner, or the share was left, stopped or revoked.
    case deleted
    /// The user's data was erased by an administrator.
    case purged
}

/// A zone that is gone, or a shared zone that its viewer has lost.
package struct ZoneTombstone: Hashable, Sendable {
    /// How many of a database, or of a viewer, are kept: the oldest are forgotten.
    package static let limit = 2_000

    package let key: ZoneKey
    package let reason: DeletionReason
    package init(key: ZoneKey, reason: DeletionReason) {
        self.key = key
        self.reason = reason
    }
}

/// The ends of the feed of a database.
///
/// What its positions are is up to the storage, as long as no reader meets one before the one below
/// it: a counter where there is one writer, else the number of the transaction up to the oldest
/// that is still at work, so that nothing is shared between zones.
package struct ZoneFeed: Hashable, Sendable {
    /// Of the last change.
    package let position: Int64
    /// Tombstones at or before it may have been forgotten.
    package let horizon: Int64
    package init(position: Int64, horizon: Int64) {
        self.position = position
        self.horizon = horizon
    }
}

/// The last that happened to a zone.
package struct ZoneChange: Hashable, Sendable {
    package let key: ZoneKey
    /// In the feed of the database.
    package let position: Int64
    /// Nil for a zone that is there.
    package let deletion: DeletionReason?
    package init(key: ZoneKey, position: Int64, deletion: DeletionReason? = nil) {
        self.key = key
        self.position = position
        self.deletion = deletion
    }
}

/// Who wrote when, from where.
package struct WriteStamp: Hashable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64
    package var user: UserName
    /// The client that wrote, for people; may be empty.
    package var device: Text
    package init(milliseconds: Int64, user: UserName, device: Text) {
        self.milliseconds = milliseconds
        self.user = user
        self.device = device
    }
}

/// A record as stored, or its tombstone.
package struct StoredRecord: Hashable, Sendable {
    package var name: RecordName
    package var type: RecordTypeName
    /// The position at which content last changed; in base 36 it is the change tag.
    package var tag: Int64
    /// The place in the zone's feed; moves with `tag`, and alone when only the visibility changes.
    package var position: Int64
    /// The canonical `fields` object as compact JSON, every value with its type tag.
    package var fields: [UInt8]
    /// The file of the record as a client has written it, until somebody saves it without: opaque.
    package var fileText: Text?
    /// Whether a field is an asset, so that `fields` needs download URLs before it goes out.
    package var hasAssets: Bool
    package var created: WriteStamp
    package var modified: WriteStamp
    package var parent: RecordName?
    /// The tree that it belongs to. A tombstone has none, and so has what never hung on anything
    /// that was shared.
    package var tree: TreeNumber?
    /// The share record of the hierarchy that it belongs to, also for the root and the share
    /// itself. Nil in a zone that is shared as a whole. It is what `tree` has: not stored with the
    /// record.
    package var share: RecordName?
    package var shortGUID: Text?
    /// A tombstone has no fields, parent or share.
    package var isDeleted: Bool
    /// Of a tombstone: where the record has gone, as whoever deleted it says.
    package var movedTo: RecordAddress?

    package init(
        name: RecordName, type: RecordTypeName, tag: Int64, position: Int64, fields: [UInt8],
        hasAssets: Bool = false, created: WriteStamp, modified: WriteStamp
    ) {
        self.name = name
        self.type = type
        self.tag = tag
        self.position = position
        self.fields = fields
        self.hasAssets = hasAssets
        self.created = created
        self.modified = modified
        isDeleted = false
    }

    package var changeTag: Text { Self.changeTag(tag) }

    /// What it takes in memory, and counts of its owner's storage without its assets.
    package var bytes: Int { fields.count + (fileText?.utf8.count ?? 0) }

    /// How a position stands in tags.
    static func changeTag(_ position: Int64) -> Text { Text(String(position, radix: 36)) }
}

/// One entry of a zone's feed as one viewer sees it.
package enum FeedEntry: Hashable, Sendable {
    case record(StoredRecord)
    /// Deleted, or gone from this viewer's hierarchy.
    case gone(name: RecordName, position: Int64)

    package var position: Int64 {
        switch self {
        case .record(let record): record.position
        case .gone(_, let position): position
        }
    }
}

/// A tombstone that said where its record had gone, of a name that has a record again.
package struct Departure: Hashable, Sendable {
    package let name: RecordName
    package let position: Int64
    package let target: RecordAddress
}

/// A reference with consequences, from `source` to `target` in one zone.
package struct StoredReference: Hashable, Sendable {
    package let target: RecordName
    /// `deleteSelf` or `validate`.
    package let action: Reference.Action
    package init(target: RecordName, action: Reference.Action) {
        self.target = target
        self.action = action
    }
}

/// One key under which an index finds a record.
package struct IndexEntry: Hashable, Sendable {
    package enum Kind: Int64, Sendable {
        /// The value itself, for equality, ranges and order.
        case value = 1
        /// One element of a list.
        case element = 2
        /// One word of a text, folded.
        case token = 3
    }
    package let field: FieldName
    package let kind: Kind
    /// Compares byte by byte as the values do; at most 256 bytes, longer ones are cut.
    package let key: [UInt8]
    package init(field: FieldName, kind: Kind, key: [UInt8]) {
        self.field = field
        self.kind = kind
        self.key = key
    }
}

/// A range of keys of one index of one record type.
package struct IndexScan: Hashable, Sendable {
    package var type: RecordTypeName
    package var field: FieldName
    package var kind: IndexEntry.Kind
    /// Inclusive; empty for no bound.
    package var lower: [UInt8] = []
    /// Exclusive; nil for no bound.
    package var upper: [UInt8]?
    package var ascending = true
    /// Where the last page ended: entries after (key, name) in the order of the scan.
    package var after: (key: [UInt8], name: RecordName)? {
        get { afterKey.flatMap { key in afterName.map { (key, $0) } } }
        set { (afterKey, afterName) = (newValue?.key, newValue?.name) }
    }
    private var afterKey: [UInt8]?
    private var afterName: RecordName?
    package var limit: Int
    /// Ends after the record with which they have so many.
    package var maximumBytes = Int.max

    package init(
        type: RecordTypeName, field: FieldName, kind: IndexEntry.Kind, limit: Int
    ) {
        self.type = type
        self.field = field
        self.kind = kind
        self.limit = limit
    }
}

package struct IndexedRecord: Hashable, Sendable {
    package let key: [UInt8]
    package let record: StoredRecord
    package init(key: [UInt8], record: StoredRecord) {
        self.key = key
        self.record = record
    }
}

/// What goes out from a record, to be put with others of a batch in one call.
package struct RecordReferences: Hashable, Sendable {
    package let source: RecordName
    package let references: [StoredReference]
    package init(source: RecordName, _ references: [StoredReference]) {
        self.source = source
        self.references = references
    }
}

/// The keys under which the indexes of its type find a record.
package struct RecordIndex: Hashable, Sendable {
    /// Whoever has more than so many entries puts them before it makes more: long texts have many.
    package static let entriesPerCall = 4_000

    package let record: RecordName
    package let type: RecordTypeName
    package let entries: [IndexEntry]
    package init(_ record: RecordName, type: RecordTypeName, _ entries: [IndexEntry]) {
        self.record = record
        self.type = type
        self.entries = entries
    }
}

/// The assets that a record refers to.
package struct RecordAssets: Hashable, Sendable {
    package let record: RecordName
    package let fileChecksums: [Text]
    package init(_ record: RecordName, _ fileChecksums: [Text]) {
        self.record = record
        self.fileChecksums = fileChecksums
    }
}
