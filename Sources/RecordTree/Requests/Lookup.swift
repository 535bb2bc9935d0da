import RecordModel
import RecordStore

/// Finds names for the kernel (lookup, forget).
final class Lookup: Sendable {
    let naming: Naming
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let records: OpenRecords
    let scratchNodes: ScratchNodes
    let touches: Touches

    init(
        _ ground: Ground, _ scratchRooms: ScratchRooms, _ recordRooms: RecordRooms,
        _ namingRooms: NamingRooms, _ changeRooms: ChangeRooms
    ) {
        naming = namingRooms.naming
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        records = recordRooms.records
        scratchNodes = scratchRooms.scratchNodes
        touches = changeRooms.touches
    }

    /// Finds a name (lookup). Returns nil when it does not exist; the kernel may remember that too.
    func lookup(parent: NodeNumber, name: [UInt8], caller: Requester) throws(RecordError)
        -> NodeEntry?
    {
        let parent = try nodes.node(parent)
        if touches.isOwn(caller), let answer = touches.adoptingLookup(parent, name) {
            return answer.entry
        }
        guard name.count <= 255 else {
            throw RecordError(.nameTooLong, "a file name has at most 255 bytes")
        }
        guard let node = try naming.find(name, in: parent),
            let entry = try nodeAttributes.entry(of: node)
        else {
            return nil
        }
        if case .record(let file) = node {
            records.arrivals.noteLookup(file.record, by: caller.threadID)
        }
        return entry.named(name, in: parent)
    }

    /// Notes that the kernel has dropped lookups of a node (forget).
    func forget(_ number: NodeNumber, count: UInt64) {
        scratchNodes.forget(number, count: count)
    }

    /// Returns whether the kernel may keep the answer "not found" for this name.
    ///
    /// A change that makes the name without a creating call of the kernel withdraws the answer by a
    /// notice. Such changes are a change from another machine, and a refused rename whose draft
    /// appears under the name. Any save of a record's text may make assets under many names, so
    /// their absence is not kept.
    func canCacheAbsence(parent: NodeNumber, name: [UInt8], caller: Requester) -> Bool {
        // An arrived file is hidden only from the daemon's own touches, and not from others.
        guard !touches.isOwn(caller), name != NameMeaning.errorName,
            let node = nodes.find(parent)
        else { return false }
        if case .type = node, case .asset = EntryName(classifying: name) { return false }
        return node.isCacheable && !NameMeaning.isShareName(name, in: node)
    }
}
