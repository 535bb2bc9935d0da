import RecordModel
import RecordWire

/// The records of one zone as a batch leaves them: the records of the storage, read once, under the
/// records that the batch has planned so far.
struct RecordOverlay {
    private static let readCount = 50
    private static let readBytes = 1 << 20

    let zone: ZoneHandle
    let reader: any StorageReader
    let context: OperationContext
    /// The bytes of the fields of everything that was read.
    private var bytes = 0
    /// The bytes of everything made from it: values, and records as they will be.
    private var madeBytes = 0
    /// The records of the storage, tombstones included. The inner nil stands for no record.
    private var rows: [RecordName: StoredRecord?] = [:]
    /// The children and sources, which every pass of a plan asks for again.
    private var lists: [ListKey: [RecordName]] = [:]
    private var shareRows: [RecordName: ShareRow?] = [:]
    private var treeRows: [TreeNumber: TreeRow?] = [:]
    private var members: [RecordName: [TreeMember]] = [:]
    /// The names of stored records that the plan treats as if nothing were there.
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

    /// Reads the records that were not read yet, in few calls.
    ///
    /// Errors: LIMIT_EXCEEDED when everything that was read has more than `maximumBytes`, before
    /// all are in memory; those of `OperationContext.hold`.
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

    /// Holds memory for values made from the records that were read. Errors: as `load`.
    mutating func hold(_ more: Int) throws(ServerError) {
        madeBytes += more
        try context.hold(bytes + madeBytes)
    }

    /// Returns the stored record. Returns nil for a tombstone.
    mutating func stored(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        guard !concealed.contains(name) else { return nil }
        if rows[name] == nil { try load([name]) }
        guard let row = rows[name] ?? nil, !row.isDeleted else { return nil }
        return row
    }

    /// Treats the stored record of this name, if there is one, as missing.
    mutating func conceal(_ name: RecordName) throws(ServerError) {
        if try stored(name) != nil { concealed.insert(name) }
    }

    /// Treats a name as taken, whatever is stored.
    mutating func concealAlways(_ name: RecordName) { concealed.insert(name) }

    /// Returns the record after the batch as planned so far. Returns nil when it does not exist.
    mutating func current(_ name: RecordName) throws(ServerError) -> StoredRecord? {
        if let plan = planned[name] { return plan.record.isDeleted ? nil : plan.record }
        return try stored(name)
    }

    /// Returns the children as stored.
    mutating func children(of name: RecordName, limit: Int) throws(ServerError) -> [RecordName] {
        let key = ListKey.children(name, limit: limit)
        if let known = lists[key] { return known }
        let found = try reader.children(zone, of: name, limit: limit)
        lists[key] = found
        return found
    }

    /// Returns the sources as stored.
    mutating func sources(
        of name: RecordName, action: Reference.Action, limit: Int
    ) throws(ServerError) -> [RecordName] {
        let key = ListKey.sources(name, action, limit: limit)
        if let known = lists[key] { return known }
        let found = try reader.sources(zone, of: name, action: action, limit: limit)
        lists[key] = found
        return found
    }

    /// Returns the tree as stored.
    mutating func tree(_ number: TreeNumber) throws(ServerError) -> TreeRow? {
        if let known = treeRows[number] { return known }
        let found = try reader.tree(zone, number)
        treeRows[number] = .some(found)
        return found
    }

    /// Returns the trees whose tops are children of records of this tree, as stored.
    func trees(inside number: TreeNumber) throws(ServerError) -> [TreeRow] {
        try reader.trees(zone, inside: number)
    }

    /// Returns how many trees are in a share as stored, counted up to `limit`.
    func treeCount(_ share: RecordName, limit: Int) throws(ServerError) -> Int {
        try reader.treeCount(zone, share: share, limit: limit)
    }

    /// Returns whether all descendants of the top have the number of this tree or of a tree inside
    /// it.
    func isComplete(_ number: TreeNumber?) throws(ServerError) -> Bool {
        guard let number else { return false }
        return try reader.unfinishedTree(zone, in: number) == nil
    }

    /// Returns the first `limit` children of a record, as stored.
    mutating func members(
        below parent: RecordName, limit: Int
    ) throws(ServerError) -> [TreeMember] {
        if let known = members[parent], known.count < limit { return known }
        let found = try reader.treeMembers(zone, below: parent, after: nil, limit: limit)
        members[parent] = found.count < limit ? found : nil
        return found
    }

    /// Returns the share as stored.
    mutating func share(_ zone: ZoneKey, _ name: RecordName) throws(ServerError) -> ShareRow? {
        if let known = shareRows[name] { return known }
        let found = try reader.share(zone, name)
        shareRows[name] = .some(found)
        return found
    }
}

/// A record that a batch writes.
struct PlannedRecord {
    /// The operation that fails when the record cannot be written.
    let operation: Int
    /// Indicates whether it is the operation's own record. Otherwise the record follows from the
    /// operation.
    let isOwn: Bool
    /// The record in the storage. It is nil when the record is new.
    let before: StoredRecord?
    var record: StoredRecord
    /// The content. It is nil while the fields are as stored.
    var content: RecordContent?
    /// Indicates whether readers get a new change tag.
    var changesTag = true
    /// Indicates whether the record appears in the feed again.
    var changesPosition = true
    /// The place where the earlier record of the name has gone, because this is another record. It
    /// then has a place of its own in the feed, directly before this one.
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
