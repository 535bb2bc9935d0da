import RecordModel
import RecordWire

/// What a record belongs to.
struct Membership: Hashable {
    var share: RecordName?
    var tree: TreeNumber?
}

/// What a batch does to trees, and to records that follow another one into its tree.
struct PlannedTrees {
    /// A record that no operation names.
    struct Move {
        let name: RecordName
        let tree: TreeNumber?
        /// The share that it leaves in a way that somebody sees.
        let leaving: RecordName?
        let entering: RecordName?
        /// Whether it appears in the feed again.
        let isSeen: Bool
    }

    /// The numbers of trees that the batch makes, by their tops.
    private(set) var made: [RecordName: TreeNumber] = [:]
    /// New and changed rows.
    var rows: [TreeNumber: TreeRow] = [:]
    /// How many trees are in shares that others come into.
    var counts: [RecordName: Int] = [:]
    /// Trees that go with the batch.
    var ended: Set<TreeNumber> = []
    /// Trees whose top goes, and whose records are too many to leave them: they are in no share.
    var kept: Set<TreeNumber> = []
    /// Trees whose top may have come somewhere else, or have become or been a root, each with the
    /// operation to blame.
    var touched: [(number: TreeNumber, operation: Int)] = []
    var moves: [Move] = []
    /// Records with too many below them to take along: each must be the top of a tree before the
    /// batch can be.
    var unready: [RecordName] = []
    /// Shares that a whole tree has left or entered: who has them fetches them anew.
    var renewed: Set<RecordName> = []
    /// How many records may still be taken along.
    var room: Int
    /// How many records may still be looked at for that.
    var effort: Int

    init(room: Int) {
        self.room = room
        effort = 10 * room
    }

    mutating func number(of top: RecordName, _ ids: inout RandomIDs) -> TreeNumber {
        if let known = made[top] { return known }
        let number = ids.treeNumber()
        made[top] = number
        return number
    }
}
