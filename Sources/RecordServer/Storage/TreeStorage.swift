package import RecordModel
package import RecordWire

/// The number of a tree, drawn at random: never the same twice in a zone.
package struct TreeNumber: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// Records that are in the same share, or in none, together: `top` and what hangs on it by
/// `parent`, down to the tops of other trees. Each record has the number of its tree.
///
/// So that sharing a hierarchy, and moving it, changes a row of this kind and not the records.
package struct TreeRow: Hashable, Sendable {
    package let number: TreeNumber
    package let top: RecordName
    /// The tree of the parent of `top`.
    package var outer: TreeNumber?
    /// What its records are members of: the share whose root is `top`, else that of `outer`.
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
    /// Its place among all records of the storage by their age, which never changes.
    package let age: Int64
    /// Nil for what never hung on anything that was shared.
    package let tree: TreeNumber?
    package let hasChildren: Bool
    package init(name: RecordName, age: Int64, tree: TreeNumber?, hasChildren: Bool) {
        self.name = name
        self.age = age
        self.tree = tree
        self.hasChildren = hasChildren
    }
}

/// A record whose children, those after the age `after`, have yet to come into its tree.
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
    /// Those whose `outer` is this one.
    func trees(_ zone: ZoneHandle, inside number: TreeNumber) throws(ServerError) -> [TreeRow]
    /// How many are in the share, counted up to `limit`.
    func treeCount(
        _ zone: ZoneHandle, share: RecordName, limit: Int
    ) throws(ServerError) -> Int
    /// Nil for a tombstone, and where there is nothing of this name.
    func treeMember(_ zone: ZoneHandle, _ name: RecordName) throws(ServerError) -> TreeMember?
    /// By age, after `age`: what came together is stored together, and whoever changes all of it
    /// changes few pages.
    func treeMembers(
        _ zone: ZoneHandle, below parent: RecordName, after age: Int64?, limit: Int
    ) throws(ServerError) -> [TreeMember]
    /// Any of the work that is left on a tree itself.
    func treeWork(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError) -> TreeWork?
    /// The tree itself or any of those inside of it, at any depth, on which work is left; nil for
    /// none: it is complete.
    func unfinishedTree(
        _ zone: ZoneHandle, in number: TreeNumber
    ) throws(ServerError) -> TreeNumber?
}

package protocol TreeWriter {
    /// Inserts or replaces by the number.
    func putTree(_ zone: ZoneHandle, _ tree: TreeRow) throws(ServerError)
    /// With the work that is left on it. No record may have the number any more.
    func deleteTree(_ zone: ZoneHandle, _ number: TreeNumber) throws(ServerError)
    /// Puts a record into another tree, or into none, and to another place of the feed if one is
    /// given. Takes away the note that it has left `share`.
    func move(
        _ zone: ZoneHandle, _ record: RecordName, to tree: TreeNumber?, position: Int64?,
        entering share: RecordName?) throws(ServerError)
    /// Inserts or replaces by the parent.
    func putTreeWork(_ zone: ZoneHandle, _ number: TreeNumber, _ work: TreeWork)
        throws(ServerError)
    func removeTreeWork(_ zone: ZoneHandle, _ number: TreeNumber, _ parent: RecordName)
        throws(ServerError)
}
