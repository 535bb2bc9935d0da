import Glibc
import RecordModel
import Synchronization

/// The daemon's own calls, which make inotify report changes that were not made through the mount.
final class Touches: Sendable {
    let handles: OpenHandles
    let kernel: KernelNotifier
    let modes: FileModes
    let nodeAttributes: NodeAttributes
    let nodes: Nodes
    let options: TreeOptions
    let records: OpenRecords
    private let table = StateLock(TouchTable())

    init(_ ground: Ground, _ recordRooms: RecordRooms, _ namingRooms: NamingRooms) {
        handles = ground.handles
        kernel = ground.kernel
        modes = ground.modes
        nodeAttributes = namingRooms.nodeAttributes
        nodes = ground.nodes
        options = ground.options
        records = recordRooms.records
    }

    /// The thread whose calls only make the kernel notice remote changes: they adopt the existing
    /// state and change nothing. The kernel names threads, not processes, as the callers of
    /// requests.
    private let touchingThread = Atomic<Int32>(0)

    func setTouchingThread(_ thread: Int32) {
        touchingThread.store(thread, ordering: .relaxed)
    }

    func isOwn(_ caller: Requester) -> Bool {
        caller.threadID == touchingThread.load(ordering: .relaxed)
    }

    /// Prepares a touch: sets the state that the daemon's own calls find. Returns false when the
    /// touch has become pointless, because the name has changed again.
    func prepare(_ touch: Touch) -> Bool {
        guard case .type(let type)? = nodes.find(touch.directory),
            case .record(let stem) = EntryName(classifying: touch.name)
        else { return false }
        guard let exists = exists(type, stem) else { return false }
        switch touch.kind {
        case .created:
            if exists { table.withLock { $0.addArrival(touch.name, in: type) } }
        case .deleted:
            if !exists {
                let ghost = nodes.lookUp(.errorFile(type))
                table.withLock { $0.addGhost(touch.name, in: type, ghost) }
            }
        case .changed: break
        }
        return touch.kind == .deleted ? !exists : exists
    }

    /// Returns whether a record has the name. Returns nil when that cannot be read.
    private func exists(_ type: TypeID, _ stem: Stem) -> Bool? {
        do throws(RecordError) {
            return try records.find(type, stem) != nil
        } catch {
            options.report("Programs that watch a directory do not hear of a change: \(error)")
            return nil
        }
    }

    func finish(_ touch: Touch) {
        guard case .type(let type)? = nodes.find(touch.directory) else {
            return
        }
        table.withLock { $0.finish(touch.name, in: type) }
        // The dentries of the touch have no use after it.
        kernel.notify([
            .entry(parent: touch.directory, name: touch.name), .content(touch.directory),
        ])
    }

    /// Returns the answer for a lookup by the daemon itself. Returns nil when the lookup is like
    /// any other.
    func adoptingLookup(_ parent: Node, _ name: [UInt8]) -> (entry: NodeEntry?, Void)? {
        guard case .type(let type) = parent else { return nil }
        let (isArrival, ghost) = table.withLock {
            ($0.isArrival(name, in: type), $0.ghost(name, in: type))
        }
        if isArrival { return (nil, ()) }
        guard let ghost else { return nil }
        let attributes = modes.file(ghost, size: 0, modified: options.now, 0o644)
        return (NodeEntry(node: ghost, attributes: attributes, isCacheable: false), ())
    }

    /// Answers when the daemon "creates" a record that has arrived: the kernel raises CREATE, and
    /// the record stays as it is.
    func adoptCreation(_ parent: Node, _ name: [UInt8]) throws(RecordError) -> (NodeEntry, Opened)?
    {
        guard case .type(let type) = parent,
            table.withLock({ $0.isArrival(name, in: type) }),
            case .record(let stem) = EntryName(classifying: name),
            let file = try records.find(type, stem),
            let entry = try nodeAttributes.entry(of: .record(file))
        else { return nil }
        return (entry, Opened(handle: handles.add(.bytes([]), flags: 0), keepCache: true))
    }

    /// Answers when the daemon "removes" a record that is already deleted: the kernel raises
    /// DELETE.
    func adoptRemoval(_ parent: Node, _ name: [UInt8]) -> Bool {
        guard case .type(let type) = parent else { return false }
        return table.withLock { $0.ghost(name, in: type) != nil }
    }
}
