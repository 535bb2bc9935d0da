package import RecordModel

/// The records to bring back: one record, or all records below the named place.
package struct RestoreScope: Hashable, Sendable {
    package let database: Database?
    /// The owner. Nil for every owner.
    package let owner: OwnerName?
    package let zone: ZoneName?
    package let type: RecordTypeName?
    package let stem: Stem?

    package init(
        database: Database? = nil, owner: OwnerName? = nil, zone: ZoneName? = nil,
        type: RecordTypeName? = nil, stem: Stem? = nil
    ) {
        self.database = database
        self.owner = owner
        self.zone = zone
        self.type = type
        self.stem = stem
    }

    /// Returns whether the zone is at or below the place, or contains it.
    func reaches(_ zone: ZoneInfo) -> Bool {
        if let database, database != zone.database { return false }
        if let owner, owner != zone.owner { return false }
        return self.zone == nil || self.zone == zone.name
    }

    func contains(_ zone: ZoneInfo) -> Bool {
        if let database, database != zone.database { return false }
        if let owner, owner != zone.owner { return false }
        // Where the user may change only some zones, the others are not included.
        guard let name = self.zone else { return zone.permission != .readOnly }
        return name == zone.name
    }

    func contains(_ type: RecordTypeName) -> Bool { self.type == nil || self.type == type }
    func contains(_ stem: Stem) -> Bool { self.stem == nil || self.stem == stem }
}

/// The point to which records are brought back.
package enum RestorePoint: Hashable, Sendable {
    /// Deleted records come back as they were when they were deleted. Nothing else changes.
    case deletion
    /// Records become as they were after the version with this token.
    case token(Int64)
    case time(Timestamp)
    /// The moment with this name.
    case named(MomentName)
    /// The moment after the last version of this gesture.
    case gesture(GestureName)

    /// The time, when the point is one.
    package var time: Timestamp? { if case .time(let time) = self { time } else { nil } }
}

/// The actions that bring one record back.
package struct RestoreStep: Sendable {
    package let zone: ZoneInfo
    package let type: RecordTypeName
    package let stem: Stem
    /// Indicates whether the record is deleted now, and not only changed.
    package let wasDeleted: Bool
    /// The number of versions since then, which stay in history. 0 when only a deletion is undone.
    package let laterVersions: Int64
    package let lastChange: Timestamp
    package let lastAuthor: String
    /// Indicates whether its file shows a refused text, which the file still shows over the
    /// restored text.
    package internal(set) var keepsDraft = false

    /// The actions, in this order: the waiting deletion that is ended, the trash entry that comes
    /// back, the version that becomes the present one.
    var waiting: RecordID?
    var trash: Int64?
    var version: Int64?
    /// The record that is removed, because there was none then. Nothing else is done to it.
    var removal: RecordID?

    package var isRemoval: Bool { removal != nil }
}

/// The plan or the result of restoring many records.
package struct RestorePlan: Sendable {
    package var steps: [RestoreStep] = []
    /// The number of records that were made since and stay.
    package var madeSince = 0
    /// The number of records whose name another record has now, or comes back with; they are not
    /// changed.
    package var inTheWay = 0

    package init() {}
}
