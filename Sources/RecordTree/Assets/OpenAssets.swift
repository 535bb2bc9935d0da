import RecordModel
import RecordStore

/// The open files of large fields.
///
/// A thread takes its lock before the lock of an open file, and before the lock of the nodes.
final class OpenAssets: Sendable {
    let nodes: Nodes
    private let table = StateLock(AssetTable())

    init(_ ground: Ground) {
        nodes = ground.nodes
    }

    func open(_ id: AssetID) -> OpenAsset? { table.withLock { $0.open(id) } }

    /// Returns the open files of a record.
    func open(of record: RecordID) -> [OpenAsset] { table.withLock { $0.open(of: record) } }

    /// Returns whether the file is open, and whether its name is hidden.
    func shown(_ id: AssetID) -> (isOpen: Bool, isHidden: Bool) {
        table.withLock { ($0.open(id) != nil, $0.hidden.contains(id)) }
    }

    /// Returns the number that the kernel has for the file, and the open file.
    func held(_ id: AssetID) -> (number: NodeNumber?, open: OpenAsset?) {
        table.withLock { (nodes.number(of: .asset(id)), $0.open(id)) }
    }

    // MARK: Opening and saving

    /// The number of contents that writers have given to rows.
    var writes: UInt64 { table.withLock(\.writes) }

    /// Returns the file that all handles share, with one more handle counted: the given one,
    /// unless there is one. Returns nil when somebody has saved other bytes in the meantime.
    func share(_ made: OpenAsset, unlessWrittenSince before: UInt64, writes: Bool)
        -> OpenAsset?
    {
        table.withLock { table in
            let id = made.id
            guard let open = table.open(id) ?? (table.writes == before ? made : nil) else {
                return nil
            }
            table.add(open, at: id)
            open.addHandle(writes: writes)
            return open
        }
    }

    /// Notes that the store has the content of an open file.
    ///
    /// - Parameters:
    ///   - version: the version of the content in the open file.
    ///   - hasName: false for a file that has lost its name. It is not saved any more.
    ///   - entry: the row of the bytes. Nil when the content became a value without a file.
    func noteSaved(
        _ open: OpenAsset, version: Int, hasName: Bool, entry: AssetEntry?, readVersion: Int64?
    ) {
        table.withLock { table in
            table.writes += 1
            open.noteSaved(
                version: version, hasName: hasName, entry: entry, readVersion: readVersion)
            if let entry { table.move(open, to: entry) }
        }
    }

    /// Removes a handle from an open file, and forgets the file with its last handle.
    func close(_ open: OpenAsset) {
        table.withLock { table in
            guard open.removeHandle() else { return }
            table.forget(open)
            table.forgetDetached(open)
        }
    }

    // MARK: Changes of names

    /// Takes the name from an open file after another file replaced it. Even with the same bytes,
    /// and therefore the same row, the other file is not this one: writes to this one are not
    /// saved.
    func lose(_ open: OpenAsset) {
        open.unlink()
        table.withLock { table in
            guard table.open(open.id) === open else { return }
            // With another row, the commit has already taken the number.
            if let number = nodes.disown(.asset(open.id)) { table.detach(open, number) }
            table.forget(open)
        }
    }

    /// Takes the name from an asset: its handles see it to their end, nothing is saved, and the
    /// next file with the name gets another number.
    ///
    /// - Parameter isHidden: whether the asset stays until the delete of its record, without a name.
    func detach(_ asset: AssetEntry, isHidden: Bool = false) {
        table.withLock { table in
            if isHidden { table.hide(asset.id) }
            let number = nodes.number(of: .asset(asset.id))
            if let open = table.take(asset.id) {
                open.unlink()
                if let number { table.detach(open, number) }
            }
            nodes.retire(.asset(asset.id))
        }
    }

    /// Hides the name of an asset that is deleted with its record.
    func hide(_ id: AssetID) { table.withLock { $0.hide(id) } }

    /// Takes the name from an asset file that a commit has removed or renamed. Returns the number
    /// that the kernel may have for the file.
    func loseName(_ former: FormerAsset) -> NodeNumber? {
        table.withLock { table in
            let number = nodes.disown(.asset(former.id))
            if let open = table.open(former.id) {
                if let number { table.detach(open, number) }
                if former.isGone { _ = table.take(former.id) }
            }
            if former.isGone { nodes.forgetEpoch(of: .asset(former.id)) }
            return number
        }
    }

    /// Notes that the kernel has moved a file to the name of this one, with its number and its open
    /// file.
    func adopt(_ number: NodeNumber?, _ open: OpenAsset?, as asset: AssetEntry) {
        table.withLock { $0.adopt(number, open, as: asset, nodes) }
    }

    /// Notes that the kernel has exchanged the names of two files, with their numbers and their open
    /// files. Files of the same bytes have each other's rows then.
    func exchange(
        _ one: (number: NodeNumber?, open: OpenAsset?), as asset: AssetEntry?,
        _ other: (number: NodeNumber?, open: OpenAsset?), as otherAsset: AssetEntry?
    ) {
        table.withLock { table in
            // Each makes room for the other. A file whose row has moved with it stays.
            for (open, row) in [(one.open, asset), (other.open, otherAsset)] {
                if let open, open.id != row?.id { table.forget(open) }
            }
            if let asset { table.adopt(one.number, one.open, as: asset, nodes) }
            if let otherAsset { table.adopt(other.number, other.open, as: otherAsset, nodes) }
        }
    }

    /// Moves an open file to the name that the file has in another record.
    func follow(_ open: OpenAsset, to entry: AssetEntry) {
        table.withLock { table in
            let former = open.id
            table.adopt(nodes.number(of: .asset(former)), open, as: entry, nodes)
            open.noteMove(to: entry, from: former)
        }
    }

    /// Returns the open file that has lost its name, by the number that the kernel has for it.
    func detached(_ number: NodeNumber) -> OpenAsset? { table.withLock { $0.detached(number) } }

    /// Notes that the number belongs to another file now.
    func attach(_ number: NodeNumber?) {
        if let number { table.withLock { $0.attach(number) } }
    }

    // MARK: Records that wait for their delete

    /// The files to keep in a save: a program that saves a file means only that file, and not the
    /// files beside it.
    var keptFiles: KeptFiles { .all(but: table.withLock(\.hidden)) }

    /// Keeps the files of a record that begins to wait for its delete.
    func keepWaiting(_ record: RecordID, _ assets: [AssetEntry]) {
        table.withLock { $0.keepWaiting(record, assets) }
    }

    /// Forgets the files of a record that no longer waits, and returns them.
    func endWait(of record: RecordID) -> [AssetEntry] {
        table.withLock { $0.endWait(of: record) }
    }
}

extension AssetTable {
    fileprivate mutating func adopt(
        _ number: NodeNumber?, _ open: OpenAsset?, as asset: AssetEntry, _ nodes: Nodes
    ) {
        if let open { move(open, to: asset) }
        guard let number else { return }
        nodes.rebind(number, to: .asset(asset.id))
        attach(number)
    }
}
