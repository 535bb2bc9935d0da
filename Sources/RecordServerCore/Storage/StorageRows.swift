package import RecordModel
package import RecordWire

/// A zone as stored.
package struct ZoneRow: Hashable, Sendable {
    package let key: ZoneKey
    package let handle: ZoneHandle
    /// A random number made with the zone. Tokens of an earlier zone with this name do not fit.
    package let incarnation: UInt64
    /// The position of the last change; positions are 1, 2, 3 ... in the order of commits.
    package var position: Int64
    /// The position up to which tombstones are removed. Older tokens have expired.
    package var horizon: Int64
    /// The number of records that are not deleted.
    package var recordCount: Int64
    /// The bytes of the fields of these records, without assets.
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
    /// The owner deleted the zone, or the share was left, stopped or revoked.
    case deleted
    /// An administrator erased the user's data.
    case purged
}

/// A zone that was deleted, or a shared zone that its viewer has lost.
package struct ZoneTombstone: Hashable, Sendable {
    /// The most tombstones of a database, or of a viewer, that are kept. The oldest are removed.
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
/// The storage chooses its positions, as long as no reader meets a position before the one below
/// it. With one writer, positions are a counter. Otherwise a position is the number of the
/// transaction, up to the oldest transaction that is still at work, so that zones share nothing.
package struct ZoneFeed: Hashable, Sendable {
    /// The position of the last change.
    package let position: Int64
    /// The position up to which tombstones may have been removed.
    package let horizon: Int64
    package init(position: Int64, horizon: Int64) {
        self.position = position
        self.horizon = horizon
    }
}

/// The last change of a zone.
package struct ZoneChange: Hashable, Sendable {
    package let key: ZoneKey
    /// The position in the feed of the database.
    package let position: Int64
    /// The reason of the deletion. It is nil for a zone that exists.
    package let deletion: DeletionReason?
    package init(key: ZoneKey, position: Int64, deletion: DeletionReason? = nil) {
        self.key = key
        self.position = position
        self.deletion = deletion
    }
}

/// The user, the time and the device of a write.
package struct WriteStamp: Hashable, Sendable {
    /// The time in milliseconds since 1970-01-01T00:00:00Z.
    package var milliseconds: Int64
    package var user: UserName
    /// The client that wrote, as text for people. It may be empty.
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
    /// The position of the last change of the content. In base 36 it is the change tag.
    package var tag: Int64
    /// The place in the zone's feed. It moves with `tag`, and alone when only the visibility
    /// changes.
    package var position: Int64
    /// The canonical `fields` object as compact JSON, every value with its type tag.
    package var fields: [UInt8]
    /// The file of the record as a client has written it, not interpreted. It stays until a client
    /// saves the record without it.
    package var fileText: Text?
    /// The origin of the last change as its client has told it, not interpreted.
    package var gesture: Text?
    /// Indicates whether a field is an asset, so that `fields` needs download URLs before it is
    /// sent.
    package var hasAssets: Bool
    package var created: WriteStamp
    package var modified: WriteStamp
    package var parent: RecordName?
    /// The tree that the record belongs to. A tombstone has none. A record that never belonged to a
    /// shared hierarchy has none either.
    package var tree: TreeNumber?
    /// The share record of the hierarchy that the record belongs to, also for the root and the
    /// share itself. It is nil in a zone that is shared as a whole. It comes from `tree` and is not
    /// stored with the record.
    package var share: RecordName?
    package var shortGUID: Text?
    /// Indicates whether this is a tombstone. A tombstone has no fields, parent or share.
    package var isDeleted: Bool
    /// The place where the record of a tombstone has gone, as the client that deleted the record
    /// says.
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

    /// The bytes that the record takes in memory, and that count for its owner's storage without
    /// its assets.
    package var bytes: Int { fields.count + (fileText?.utf8.count ?? 0) }

    /// Returns the change tag for a position.
    static func changeTag(_ position: Int64) -> Text { Text(String(position, radix: 36)) }
}

/// One entry of a zone's feed as one viewer sees it.
package enum FeedEntry: Hashable, Sendable {
    case record(StoredRecord)
    /// A record that was deleted, or that left this viewer's hierarchy.
    case gone(name: RecordName, position: Int64)

    package var position: Int64 {
        switch self {
        case .record(let record): record.position
        case .gone(_, let position): position
        }
    }
}

/// A note of a former tombstone: where its record has gone. Its name has a record again.
package struct Departure: Hashable, Sendable {
    package let name: RecordName
    package let position: Int64
    package let target: RecordAddress

    package init(name: RecordName, position: Int64, target: RecordAddress) {
        self.name = name
        self.position = position
        self.target = target
    }
}

/// A reference with consequences, from `source` to `target` in one zone.
package struct StoredReference: Hashable, Sendable {
    package let target: RecordName
    /// The action: `deleteSelf` or `validate`.
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
    /// The key. Keys compare byte by byte as the values do. A key has at most 256 bytes; longer
    /// ones are cut.
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
    /// The lower bound, inclusive. Empty stands for no bound.
    package var lower: [UInt8] = []
    /// The upper bound, exclusive. Nil stands for no bound.
    package var upper: [UInt8]?
    package var ascending = true
    /// The end of the last page. The scan returns entries after (key, name) in its order.
    package var after: (key: [UInt8], name: RecordName)? {
        get { afterKey.flatMap { key in afterName.map { (key, $0) } } }
        set { (afterKey, afterName) = (newValue?.key, newValue?.name) }
    }
    private var afterKey: [UInt8]?
    private var afterName: RecordName?
    package var limit: Int
    /// The most bytes. The scan ends after the record with which its records reach this number.
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

/// The references that go out from a record, to be put with those of other records of a batch in
/// one call.
package struct RecordReferences: Hashable, Sendable {
    package let source: RecordName
    package let references: [StoredReference]
    package init(source: RecordName, _ references: [StoredReference]) {
        self.source = source
        self.references = references
    }
}

/// The keys under which the indexes of its type find a record.
package struct IndexKeys: Hashable, Sendable {
    /// The most entries to collect before they are put. A caller with more entries puts them before
    /// it makes more, because long texts have many.
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
