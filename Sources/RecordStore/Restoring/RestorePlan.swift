package import RecordModel

/// Which records to bring back: those of one, or of all below what is named.
package struct RestoreScope: Hashable, Sendable {
    package let database: Database?
    /// Nil for every owner.
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

    func contains(_ zone: ZoneInfo) -> Bool {
        if let database, database != zone.database { return false }
        if let owner, owner != zone.owner { return false }
        // Where only some zones are the user's to change, the others are not meant.
        guard let name = self.zone else { return zone.permission != .readOnly }
        return name == zone.name
    }

    func contains(_ type: RecordTypeName) -> Bool { self.type == nil || self.type == type }
    func contains(_ stem: Stem) -> Bool { self.stem == nil || self.stem == stem }
}

/// Back to when.
package enum RestorePoint: Hashable, Sendable {
    /// What is deleted comes back as it was deleted; nothing else changes.
    case deletion
    /// As it was after the version with this token.
    case token(Int64)
    case time(Timestamp)
}

/// What is done to one record to bring it back.
package struct RestoreStep: Sendable {
    package let zone: ZoneInfo
    package let type: RecordTypeName
    package let stem: Stem
    /// Whether it is gone now, and not only changed.
    package let wasDeleted: Bool
    /// The versions since then, which stay in history; 0 when only a deletion is undone.
    package let laterVersions: Int64
    package let lastChange: Timestamp
    package let lastAuthor: String
    /// Whether its file shows a refused text, which stays there over what is restored.
    package internal(set) var keepsDraft = false

    /// In this order: the waiting delete that is called off, the trash entry that comes back, the
    /// version that becomes the present one.
    var waiting: RecordID?
    var trash: Int64?
    var version: Int64?
}

/// What a restoring of many does, or has done.
package struct RestorePlan: Sendable {
    package var steps: [RestoreStep] = []
    /// Records that were made since: they stay.
    package var madeSince = 0
    /// Records whose name another one has now: they are left alone.
    package var inTheWay = 0

    package init() {}
}
