import RecordModel
import RecordWire

/// The share and the tree that a record belongs to.
struct Membership: Hashable {
    var share: RecordName?
    var tree: TreeNumber?
}

/// The changes of a batch to trees, and to records that follow another one into its tree.
struct PlannedTrees {
    /// The move of a record that no operation names.
    struct Move {
        let name: RecordName
        let tree: TreeNumber?
        /// The share that the record leaves, if somebody sees that.
        let leaving: RecordName?
        let entering: RecordName?
        /// Indicates whether the record appears in the feed again.
        let isSeen: Bool
    }

    /// The numbers of trees that the batch makes, by their tops.
    private(set) var made: [RecordName: TreeNumber] = [:]
    /// New and changed rows.
    var rows: [TreeNumber: TreeRow] = [:]
    /// The numbers of trees in shares that other trees move into.
    var counts: [RecordName: Int] = [:]
    /// The trees that end with the batch.
    var ended: Set<TreeNumber> = []
    /// The trees whose top is deleted, and which have too many records to renumber. They are in no
    /// share.
    var kept: Set<TreeNumber> = []
    /// The trees whose top may have moved, or have become or been a root, each with the operation
    /// that causes it.
    var touched: [(number: TreeNumber, operation: Int)] = []
    var moves: [Move] = []
    /// The records with too many descendants to move along. Each must be the top of a tree before
    /// the batch is possible.
    var unready: [RecordName] = []
    /// The shares that a whole tree has left or entered. Everybody with such a share fetches it
    /// again.
    var renewed: Set<RecordName> = []
    /// The number of records that may still be moved along.
    var room: Int
    /// The number of records that may still be looked at for that.
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
