import RecordModel

/// The numbers that are not computed: scratch and `.recordfs` nodes with their lookup counts, and
/// the numbers whose dentry the kernel has moved to another thing by a rename.
///
/// INVARIANTS
/// - `counts[n]` is the kernel's lookup count of a counted number in `nodes`. For a number in
///   `moved` it is the number of lookups since it was moved. No entry counts as 0.
/// - `numbers[node] == n` implies that `n` names `node` (by `nodes` or by `moved`).
/// - A number in `moved` is a computed one and no longer names its own row.
struct NodeTable: CheckedState {
    private(set) var nodes: [NodeNumber: Node] = [:]
    private(set) var counts: [NodeNumber: UInt64] = [:]
    private(set) var numbers: [Node: NodeNumber] = [:]
    private(set) var moved: [NodeNumber: Node] = [:]
    private(set) var epochs: [Node: UInt32] = [:]
    private(set) var next: Int64 = 1

    var size: Int { numbers.count + nodes.count + moved.count }

    var violations: [String] {
        var found: [String] = []
        if !numbers.allSatisfy({ nodes[$0.value] == $0.key || moved[$0.value] == $0.key }) {
            found.append("a node answers to a number that names another one")
        }
        if !nodes.keys.allSatisfy({ $0.kind == .counted }) {
            found.append("a computed number is counted")
        }
        if moved.keys.contains(where: { $0.kind == .counted }) {
            found.append("a counted number is among the moved ones")
        }
        return found
    }

    /// Returns the node behind a number. Returns nil when it no longer exists (ESTALE: the kernel
    /// looks it up again).
    func node(_ number: NodeNumber) -> Node? {
        if let node = nodes[number] ?? moved[number] { return node }
        guard let node = number.arithmeticNode else { return nil }
        if case .record = node { return node }
        return number.epoch == epochs[node] ?? 0 ? node : nil
    }

    /// Returns the number that a lookup of the node answers now.
    func number(of node: Node) -> NodeNumber? {
        if let number = numbers[node] { return number }
        let epoch = epochs[node] ?? 0
        switch node {
        case .root: return .root
        case .readme: return .readme
        case .database(let database): return NodeNumber(database)
        case .zone(let zone): return NodeNumber(zone, epoch: epoch)
        case .type(let type): return NodeNumber(type)
        case .record(let file): return NodeNumber(file)
        case .asset(let asset): return NodeNumber(asset, epoch: epoch)
        case .errorFile(let type): return NodeNumber(errorsOf: type)
        case .control(let path): return path.arithmeticNumber
        case .share(let file): return NodeNumber(file, epoch: epoch)
        case .owner, .scratch: return nil
        }
    }

    /// Returns the number of a node, with one more lookup counted. Makes a number when the node has
    /// none.
    mutating func lookUp(_ node: Node) -> NodeNumber {
        let number = self.number(of: node) ?? make(node)
        if number.kind == .counted || moved[number] != nil { counts[number, default: 0] += 1 }
        return number
    }

    /// Returns a number for a node that a listing shows. Its first lookup is counted when the
    /// kernel has taken the entry. A number that the kernel never takes stays until the mount ends.
    mutating func reserve(_ node: Node) -> NodeNumber { number(of: node) ?? make(node) }

    private mutating func make(_ node: Node) -> NodeNumber {
        let number = NodeNumber(kind: .counted, row: next)
        next += 1
        assign(number, node)
        numbers[node] = number
        return number
    }

    private mutating func assign(_ number: NodeNumber, _ node: Node) {
        unassign(number)
        if number.kind == .counted { nodes[number] = node } else { moved[number] = node }
    }

    @discardableResult
    private mutating func unassign(_ number: NodeNumber) -> Node? {
        if let node = nodes.removeValue(forKey: number) { return node }
        if moved[number] != nil { counts[number] = nil }
        return moved.removeValue(forKey: number)
    }

    /// Notes that the kernel has dropped `count` lookups: all lookups of a file that it no longer
    /// uses, or an unused answer while the file stays. Returns the node when these were the last
    /// lookups.
    mutating func forget(_ number: NodeNumber, count: UInt64) -> Node? {
        let isMoved = moved[number] != nil
        guard isMoved || number.kind == .counted else { return number.arithmeticNode }
        let counted = counts[number] ?? 0
        // The kernel looked a moved number up at least once before the move, which was not counted.
        guard isMoved ? counted < count : counted <= count else {
            counts[number] = counted - count
            return nil
        }
        counts[number] = nil
        guard let node = unassign(number) else { return nil }
        return release(node, from: number)
    }

    private mutating func release(_ node: Node, from number: NodeNumber) -> Node? {
        guard numbers[node] == number else { return nil }
        numbers[node] = nil
        return node
    }

    /// Notes that the kernel has moved a dentry: `number` now names `node`, and `node` answers to
    /// it.
    mutating func rebind(_ number: NodeNumber, to node: Node) {
        let before = self.node(number)
        assign(number, node)
        if let before, before != node { leave(before, number) }
        numbers[node] = number
    }

    /// Notes that the kernel has exchanged the dentries of two nodes: `other` answers to the number
    /// of `node`, and `new` to the number of `other`.
    mutating func swap(_ node: Node, _ other: Node, as new: Node) {
        guard let number = number(of: node), let otherNumber = self.number(of: other) else {
            return
        }
        rebind(otherNumber, to: new)
        rebind(number, to: other)
    }

    /// Notes that the name of a thing is gone: the next thing with the name gets another number.
    mutating func retire(_ node: Node) {
        if let number = number(of: node) { leave(node, number) }
    }

    /// Notes that the thing has another name now, or is gone: the number that the kernel has for it
    /// no longer names it. Returns this number.
    mutating func disown(_ node: Node) -> NodeNumber? {
        guard let number = number(of: node) else { return nil }
        leave(node, number)
        unassign(number)
        return number
    }

    private mutating func leave(_ node: Node, _ number: NodeNumber) {
        if numbers[node] == number { numbers[node] = nil }
        if case .record = node { return }
        if number.arithmeticNode == node {
            epochs[node] = ((epochs[node] ?? 0) &+ 1) % NodeNumber.epochs
        }
    }

    /// Sets the epoch that the store keeps for a node whose row had earlier subjects.
    mutating func begin(_ node: Node, epoch: UInt32) { epochs[node] = epoch % NodeNumber.epochs }

    /// Returns the number of a zone's directory, also of one that was made again.
    func number(of zone: ZoneID) -> NodeNumber {
        NodeNumber(zone, epoch: epochs[.zone(zone)] ?? 0)
    }

    /// Forgets the epoch of a row that is deleted for good: its number is never used again.
    mutating func forgetEpoch(of node: Node) { epochs[node] = nil }
}
