import RecordModel

/// The numbers by which the kernel knows the nodes.
///
/// The lock of this room is the innermost one: other rooms call it while they hold theirs.
final class Nodes: Sendable {
    private let table = StateLock(NodeTable())

    // MARK: Numbers

    /// Returns the node behind a number. Errors: stale.
    func node(_ number: NodeNumber) throws(RecordError) -> Node {
        guard let node = find(number) else { throw .staleNode }
        return node
    }

    /// Returns the node behind a number, or nil when it no longer exists.
    func find(_ number: NodeNumber) -> Node? { table.withLock { $0.node(number) } }

    /// Returns the number that a lookup of the node answers now.
    func number(of node: Node) -> NodeNumber? { table.withLock { $0.number(of: node) } }

    /// Returns the number of a zone's directory, also of one that was made again.
    func number(of zone: ZoneID) -> NodeNumber { table.withLock { $0.number(of: zone) } }

    func number(ofDirectory directory: ScratchPlace.Directory) -> NodeNumber? {
        switch directory {
        case .root: .root
        case .database(let database): NodeNumber(database)
        case .zone(let zone): number(of: zone)
        case .type(let type): NodeNumber(type)
        case .scratch(let id): number(of: .scratch(id))
        }
    }

    /// Returns the number for the attributes of a node. They may have none yet.
    func inode(of node: Node) -> NodeNumber {
        number(of: node) ?? NodeNumber(kind: .counted, row: 0)
    }

    // MARK: Lookups

    /// Returns the number of a node, with one more lookup counted.
    func lookUp(_ node: Node) -> NodeNumber { table.withLock { $0.lookUp(node) } }

    /// Returns the entry of a node, with one lookup counted.
    func entry(of node: Node, _ attributes: Attributes) -> NodeEntry {
        NodeEntry(
            node: lookUp(node), attributes: attributes, isCacheable: node.isCacheable,
            isBrief: node.isBrief)
    }

    /// Returns the entry of a listed node, without a counted lookup: `didList` counts the first
    /// one when the kernel has taken the entry. Attributes need a number, so that a node without
    /// one gets it now.
    func listedEntry(of node: Node, _ attributes: Attributes) -> NodeEntry {
        let number = table.withLock { $0.reserve(node) }
        return NodeEntry(
            node: number, attributes: attributes, isCacheable: node.isCacheable,
            isBrief: node.isBrief)
    }

    /// Counts a lookup for a listed entry that the kernel has taken.
    func didList(_ number: NodeNumber) {
        table.withLock { table in
            if let node = table.node(number) { _ = table.lookUp(node) }
        }
    }

    /// Notes that the kernel has dropped lookups. Returns the node when these were the last ones.
    func forget(_ number: NodeNumber, count: UInt64) -> Node? {
        table.withLock { $0.forget(number, count: count) }
    }

    // MARK: Changes of names

    /// Notes that the kernel has moved a dentry: the number now names the node.
    func rebind(_ number: NodeNumber, to node: Node) {
        table.withLock { $0.rebind(number, to: node) }
    }

    /// Notes that the kernel has moved the dentry of one node to another one, when it knows the
    /// first.
    ///
    /// - Returns: the number, or nil when the kernel does not know the first node.
    @discardableResult
    func rebind(_ former: Node, to node: Node) -> NodeNumber? {
        table.withLock { table in
            guard let number = table.number(of: former) else { return nil }
            table.rebind(number, to: node)
            return number
        }
    }

    /// Notes that the kernel has exchanged the dentries of two nodes: `other` answers to the number
    /// of `node`, and `new` to the number of `other`.
    func swap(_ node: Node, _ other: Node, as new: Node) {
        table.withLock { $0.swap(node, other, as: new) }
    }

    /// Notes that the name of a thing is gone: the next thing with the name gets another number.
    func retire(_ node: Node) { table.withLock { $0.retire(node) } }

    /// Takes the number from a node that has another name now, or is gone. Returns this number.
    func disown(_ node: Node) -> NodeNumber? { table.withLock { $0.disown(node) } }

    // MARK: Epochs

    /// Sets the epoch that the store keeps for a node whose row had earlier subjects.
    func begin(_ node: Node, epoch: UInt32) { table.withLock { $0.begin(node, epoch: epoch) } }

    /// Forgets the epoch of a row that is deleted for good: its number is never used again.
    func forgetEpoch(of node: Node) { table.withLock { $0.forgetEpoch(of: node) } }
}
