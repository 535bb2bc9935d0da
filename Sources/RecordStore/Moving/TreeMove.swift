package import RecordModel

/// A record with all that hangs on it by `$parent`, which is to go to another zone.
package struct TreeMove: Hashable, Sendable {
    package let root: RecordID
    /// Where it goes: a zone of this store, which is made when it is not there.
    package let database: Database
    package let owner: OwnerName
    package let zone: ZoneName
    /// The record there on which the root is to hang; nil for none.
    package let parent: RecordName?

    package init(
        of root: RecordID, to database: Database, _ owner: OwnerName, _ zone: ZoneName,
        under parent: RecordName? = nil
    ) {
        self.root = root
        self.database = database
        self.owner = owner
        self.zone = zone
        self.parent = parent
    }
}

/// What a move of a tree does, or has done.
package struct TreeMovePlan: Sendable {
    /// One record of the tree, under its old name.
    package struct Step: Sendable {
        package let record: RecordID
        package let type: RecordTypeName
        package let stem: Stem
        let name: RecordName
    }

    /// Each after that on which it hangs; the root first.
    package internal(set) var steps: [Step] = []
    /// The records as they are there, in the same order, once it is done.
    package internal(set) var copies: [RecordID] = []
    /// Of their texts and large fields.
    package internal(set) var bytes: Int64 = 0
    /// The zone that they leave.
    package let source: ZoneInfo
}
