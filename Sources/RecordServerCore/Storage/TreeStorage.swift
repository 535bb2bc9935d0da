package import RecordModel
package import RecordWire

/// The number of a tree, drawn at random. A zone never uses a number twice.
package struct TreeNumber: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// A group of records that are in the same share, or in none: `top` and its descendants by
/// `parent`, down to the tops of other trees. Each record has the number of its tree.
///
/// Sharing or moving a hierarchy therefore changes a row of this kind and not the records.
package struct TreeRow: Hashable, Sendable {
    package let number: TreeNumber
    package let top: RecordName
    /// The tree of the parent of `top`.
    package var outer: TreeNumber?
    /// The share that its records are members of: the share whose root is `top`, otherwise the
    /// share of `outer`.
    package var share: RecordName?

    package init(
        number: TreeNumber, top: RecordName, outer: TreeNumber?, share: RecordName?
    ) {
        self.number = number
        self.top = top
        self.outer = outer
        self.share = share
    }
}

/// A record as the hierarchy knows it.
package struct TreeMember: Hashable, Sendable {
    package let name: RecordName
    /// The place of the record among all records of the storage by age. It never changes.
    package let age: Int64
    /// The tree. It is nil for a record that never belonged to a shared hierarchy.
    package let tree: TreeNumber?
    package let hasChildren: Bool
    package init(name: RecordName, age: Int64, tree: TreeNumber?, hasChildren: Bool) {
        self.name = name
        self.age = age
        self.tree = tree
        self.hasChildren = hasChildren
    }
}

/// A record whose children still have to be moved into its tree. With `after`, only the children
/// after that age remain.
package struct TreeWork: Hashable, Sendable {
    package let parent: RecordName
    package var after: Int64?
    package init(parent: RecordName, after: Int64? = nil) {
        self.parent = parent
        self.after = after
    }
}

package protocol TreeReader {
    func tree(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError) -> TreeRow?
    /// Returns the trees whose `outer` is this one.
    func trees(_ zone: ZoneHandle, inside number: TreeNumber) throws(ServerError) -> [TreeRow]
    /// Returns how many trees are in the share, counted up to `limit`.
    func treeCount(
        _ zone: ZoneHandle, share: RecordName, limit: Int
    ) throws(ServerError) -> Int
    /// Returns the record as a member of a tree. Returns nil for a tombstone, and when nothing has
    /// this name.
    func treeMember(_ zone: ZoneHandle, _ name: RecordName) throws(ServerError) -> TreeMember?
    /// Returns the children of `parent` by age, after `age`. Records that arrived together are
    /// stored together, so that a change of all of them touches few pages.
    func treeMembers(
        _ zone: ZoneHandle, below parent: RecordName, after age: Int64?, limit: Int
    ) throws(ServerError) -> [TreeMember]
    /// Returns one piece of the work that is left on the tree itself.
    func treeWork(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError) -> TreeWork?
    /// Returns a tree on which work is left: the tree itself, or any tree inside it, at any depth.
    /// Returns nil when there is none, so that the tree is complete.
    func unfinishedTree(
        _ zone: ZoneHandle, in number: TreeNumber
    ) throws(ServerError) -> TreeNumber?
}

package protocol TreeWriter {
    /// Inserts or replaces a tree by its number.
    func putTree(_ zone: ZoneHandle, _ tree: TreeRow) throws(ServerError)
    /// Deletes a tree with the work that is left on it. No record may have the number any more.
    func deleteTree(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError)
    /// Moves a record into another tree, or into none, and to another place of the feed if
    /// `position` is given. Removes the note that the record has left `share`.
    func move(
        _ zone: ZoneHandle, _ record: RecordName, to tree: TreeNumber?, position: Int64?,
        entering share: RecordName?) throws(ServerError)
    /// Inserts or replaces the work by its parent.
    func putTreeWork(_ zone: ZoneHandle, _ number: TreeNumber, _ work: TreeWork)
        throws(ServerError)
    func removeTreeWork(_ zone: ZoneHandle, _ number: TreeNumber, _ parent: RecordName)
        throws(ServerError)
}
