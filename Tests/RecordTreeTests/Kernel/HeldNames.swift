import RecordModel
import RecordTree

/// A kernel's memory of the mount: names, attributes and listings that it answers from without
/// asking, and the lookups that it owes.
///
/// It drops exactly what the notices and its own calls make Linux drop. A notice about a name that
/// it does not hold says nothing of the directory, because Linux ignores such a notice.
struct HeldNames {
    struct Name: Hashable {
        let parent: NodeNumber
        let name: String
    }

    enum Meaning: Hashable {
        case absent
        case node(NodeNumber)
    }

    /// The attributes that a program can see change.
    struct Shown: Equatable {
        let inode: UInt64
        let mode, links: UInt32
        let size: Int64
        let modified, changed: Timestamp

        init(_ attributes: Attributes) {
            (inode, mode, links) = (attributes.inode, attributes.mode, attributes.links)
            (size, modified, changed) = (
                attributes.size, attributes.modified, attributes.changed
            )
        }
    }

    private(set) var names: [Name: Meaning] = [:]
    private(set) var attributes: [NodeNumber: Shown] = [:]
    private(set) var listings: [NodeNumber: Set<String>] = [:]
    /// The bytes of files, kept from one open to the next.
    private(set) var pages: [NodeNumber: [UInt8]] = [:]
    private(set) var lookups: [NodeNumber: UInt64] = [:]
    /// The nodes that programs have open: the kernel keeps them without a name.
    var opened: [NodeNumber: Int] = [:]

    // MARK: Answers

    mutating func keep(_ entry: NodeEntry, _ name: Name) {
        names[name] = entry.isCacheable ? .node(entry.node) : nil
        guard entry.isCacheable else { return }
        keep(entry.attributes, of: entry.node)
    }

    mutating func keepAbsence(_ name: Name) { names[name] = .absent }

    mutating func keep(_ shown: Attributes, of node: NodeNumber) {
        attributes[node] = shown.isAnnounced ? Shown(shown) : nil
    }

    mutating func keep(_ listing: Set<String>, of directory: NodeNumber) {
        listings[directory] = listing
    }

    mutating func keep(_ bytes: [UInt8], of node: NodeNumber) { pages[node] = bytes }

    mutating func count(_ node: NodeNumber) { lookups[node, default: 0] += 1 }

    // MARK: Notices

    mutating func receive(_ notice: KernelNotice) {
        switch notice {
        case .content(let node): dropContent(of: node)
        case .entry(let parent, let name), .replaced(let parent, let name, _):
            let name = Name(parent: parent, name: String(decoding: name, as: UTF8.self))
            guard names[name] != nil else { return }
            dropContent(of: parent)
            drop(name)
        }
    }

    mutating func dropContent(of node: NodeNumber) {
        attributes[node] = nil
        listings[node] = nil
        pages[node] = nil
    }

    /// Drops what an own call may have changed beside the bytes.
    private mutating func dropTimes(of node: NodeNumber) {
        attributes[node] = nil
        listings[node] = nil
    }

    /// Drops a name, with all names below it when it is a directory.
    mutating func drop(_ name: Name) {
        guard case .node(let node)? = names.removeValue(forKey: name) else { return }
        for below in names.keys.filter({ $0.parent == node }) { drop(below) }
    }

    // MARK: Calls

    /// Notes that a call has moved a name: the kernel does not ask for the new one.
    mutating func move(_ name: Name, to other: Name) {
        let (moved, replaced) = (names.removeValue(forKey: name), names[other])
        if case .node(let node)? = replaced { dropTimes(of: node) }
        drop(other)
        names[other] = moved
        noteMoved(moved, name, other)
    }

    mutating func exchange(_ name: Name, with other: Name) {
        let (one, two) = (names[name], names[other])
        (names[name], names[other]) = (two, one)
        noteMoved(one, name, other)
        noteMoved(two, name, other)
    }

    private mutating func noteMoved(_ moved: Meaning?, _ name: Name, _ other: Name) {
        if case .node(let node)? = moved { dropTimes(of: node) }
        dropContent(of: name.parent)
        dropContent(of: other.parent)
    }

    /// Drops the nodes that nothing leads to. Returns them with their lookups.
    mutating func takeUnused() -> [(node: NodeNumber, count: UInt64)] {
        var named: Set<NodeNumber> = [.root]
        for (name, meaning) in names {
            named.insert(name.parent)
            if case .node(let node) = meaning { named.insert(node) }
        }
        // Who has a file without a name open asks for it alone.
        for node in attributes.keys where !named.contains(node) { attributes[node] = nil }
        for node in pages.keys where !named.contains(node) { pages[node] = nil }
        let used = named.union(opened.keys)
        let unused = lookups.filter { !used.contains($0.key) }
        for node in unused.keys {
            lookups[node] = nil
            dropContent(of: node)
        }
        return unused.map { ($0.key, $0.value) }.sorted { $0.node.rawValue < $1.node.rawValue }
    }
}
