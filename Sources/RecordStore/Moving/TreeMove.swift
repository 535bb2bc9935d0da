package import RecordModel

/// A move of a record with all its descendants by `$parent` to another zone.
package struct TreeMove: Hashable, Sendable {
    package let root: RecordID
    /// The database of the target zone. The zone is in this store and is made when it does not
    /// exist.
    package let database: Database
    package let owner: OwnerName
    package let zone: ZoneName
    /// The record there that becomes the root's parent. Nil for none.
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

/// The plan or the result of moving a tree.
package struct TreeMovePlan: Sendable {
    /// One record of the tree, under its old name.
    package struct Step: Sendable {
        package let record: RecordID
        package let type: RecordTypeName
        package let stem: Stem
        let name: RecordName
    }

    /// The records of the tree, each after its parent; the root first.
    package internal(set) var steps: [Step] = []
    /// The new records, in the same order, once the move is done.
    package internal(set) var copies: [RecordID] = []
    /// The bytes of their texts and large fields.
    package internal(set) var bytes: Int64 = 0
    /// The zone that they leave.
    package let source: ZoneInfo
}
