import RecordModel
import RecordWire

/// The records of one zone as a batch leaves them: what the storage has, read once, under what
/// the batch has planned so far.
struct RecordOverlay {
    private static let readCount = 50
    private static let readBytes = 1 << 20

    let zone: ZoneHandle
    let reader: any StorageReader
    let context: OperationContext
    /// Of the fields of all that was read.
    private var bytes = 0
    /// Of what was made of it: values, and records as they will be.
    private var madeBytes = 0
    /// What the storage has, tombstones included; nil inside for nothing.
    private var rows: [RecordName: StoredRecord?] = [:]
    /// Children and sources are asked for again in every pass of a plan.
    private var lists: [ListKey: [RecordName]] = [:]
    private var shareRows: [RecordName: ShareRow?] = [:]
    private var treeRows: [TreeNumber: TreeRow?] = [:]
    private var members: [RecordName: [TreeMember]] = [:]
    /// Names of stored records that are planned as if nothing were there.
    private(set) var concealed: Set<RecordName> = []
    var planned: [RecordName: PlannedRecord] = [:]

    private enum ListKey: Hashable {
        case children(RecordName, limit: Int)
        case sources(RecordName, Reference.Action, limit: Int)
    }

    init(zone: ZoneHandle, reader: any StorageReader, context: OperationContext) {
        self.zone = zone
        self.context = context
        self.reader = reader
    }

    /// Reads those that were not read yet, in few calls.
    ///
    /// Errors: LIMIT_EXCEEDED when all that was read has more than `maximumBytes`, before all are in
    /// memory; those of `OperationContext.hold`.
    mutating func load(
        _ names: [RecordName], maximumBytes: Int = .max
    ) throws(ServerError) {
        var missing = Array(Set(names.filter { rows[$0] == nil }))[...]
        while !missing.isEmpty {
            let part = try reader.records(
                zone, first: missing.prefix(Self.readCount), maximumBytes: Self.readBytes)
            for name in missing.prefix(part.count) {
                let row = part.found[name]
                bytes += row?.bytes ?? 0
                rows[name] = .some(row)
            }
            missing = missing.dropFirst(part.count)
            try context.hold(bytes + madeBytes)
            guard bytes <= maximumBytes else {
                throw ServerError(
                    .limitExceeded,
                    "operations: the stored records of one request may have \(maximumBytes) bytes "
                        + "together; send fewer operations.")
            }
        }
    }

    /// Holds memory for what is made of the records that were read. Errors: as `load`.
    mutating func hold(_ more: Int) throws(ServerError) {
        madeBytes += more
        try context.hold(bytes + madeBytes)
    }

    /// What the storage has; nil for a tombstone.
    mutating func stored(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        guard !concealed.contains(name) else { return nil }
        if rows[name] == nil { try load([name]) }
        guard let row = rows[name] ?? nil, !row.isDeleted else { return nil }
        return row
    }

    /// Takes the record of this name, if there is one, out of what is stored.
    mutating func conceal(_ name: RecordName) throws(ServerError) {
        if try stored(name) != nil { concealed.insert(name) }
    }

    /// Takes a name for one that is taken, whatever is stored.
    mutating func concealAlways(_ name: RecordName) { concealed.insert(name) }

    /// The record after the batch as planned so far; nil when it is not there.
    mutating func current(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        if let plan = planned[name] { return plan.record.isDeleted ? nil : plan.record }
        return try stored(name)
    }

    /// Children as stored.
    mutating func children(of name: RecordName, limit: Int) throws(ServerError) -> [RecordName] {
        let key = ListKey.children(name, limit: limit)
        if let known = lists[key] { return known }
        let found = try reader.children(zone, of: name, limit: limit)
        lists[key] = found
        return found
    }

    /// Sources as stored.
    mutating func sources(
        of name: RecordName, action: Reference.Action, limit: Int
    ) throws(ServerError) -> [RecordName] {
        let key = ListKey.sources(name, action, limit: limit)
        if let known = lists[key] { return known }
        let found = try reader.sources(zone, of: name, action: action, limit: limit)
        lists[key] = found
        return found
    }

    /// The tree as stored.
    mutating func tree(_ number: TreeNumber) throws(ServerError) -> TreeRow? {
        if let known = treeRows[number] { return known }
        let found = try reader.tree(zone, number)
        treeRows[number] = .some(found)
        return found
    }

    /// The trees whose tops hang on a record of this one, as stored.
    func trees(inside number: TreeNumber) throws(ServerError) -> [TreeRow] {
        try reader.trees(zone, inside: number)
    }

    /// How many trees are in a share as stored, counted up to `limit`.
    func treeCount(_ share: RecordName, limit: Int) throws(ServerError) -> Int {
        try reader.treeCount(zone, share: share, limit: limit)
    }

    /// Whether all that hangs on the top of the tree has its number, or that of a tree inside.
    func isComplete(_ number: TreeNumber?) throws(ServerError) -> Bool {
        guard let number else { return false }
        return try reader.unfinishedTree(zone, in: number) == nil
    }

    /// The first `limit` of what hangs on a record, as stored.
    mutating func members(
        below parent: RecordName, limit: Int
    ) throws(ServerError) -> [TreeMember] {
        if let known = members[parent], known.count < limit { return known }
        let found = try reader.treeMembers(zone, below: parent, after: nil, limit: limit)
        members[parent] = found.count < limit ? found : nil
        return found
    }

    /// The share as stored.
    mutating func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow? {
        if let known = shareRows[name] { return known }
        let found = try reader.share(zone, name)
        shareRows[name] = .some(found)
        return found
    }
}

/// A record that a batch writes.
struct PlannedRecord {
    /// The operation that is to blame when it cannot be.
    let operation: Int
    /// Whether it is the operation's own record; else it follows from it.
    let isOwn: Bool
    /// The record in the storage; nil when it is new.
    let before: StoredRecord?
    var record: StoredRecord
    /// Nil while the fields are as stored.
    var content: RecordContent?
    /// Whether readers get a new change tag.
    var changesTag = true
    /// Whether it appears in the feed again.
    var changesPosition = true
    /// Where the record that had the name before has gone: this is another one. It has a place in the feed of
    /// its own then, just before this.
    var departedTo: RecordAddress?

    init(operation: Int, isOwn: Bool, before: StoredRecord?, record: StoredRecord) {
        self.operation = operation
        self.isOwn = isOwn
        self.before = before
        self.record = record
    }

    var event: ChangeNotice.Event {
        if record.isDeleted { return .delete }
        return before == nil ? .create : .update
    }
}
