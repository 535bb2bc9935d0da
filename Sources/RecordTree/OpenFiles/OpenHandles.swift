import RecordModel

/// The files and directories between open and release.
final class OpenHandles: Sendable {
    let nodes: Nodes
    private let table = StateLock(HandleTable())

    init(nodes: Nodes) {
        self.nodes = nodes
    }

    var all: [OpenHandle] { table.withLock(\.all) }
    var count: Int { table.withLock(\.count) }

    func add(_ backing: OpenHandle.Backing, flags: Int32) -> HandleNumber {
        table.withLock { $0.add(backing, flags: flags) }
    }

    /// Returns the handle with the number. Errors: stale.
    func find(_ number: HandleNumber) throws(RecordError) -> OpenHandle {
        guard let handle = open(number) else {
            throw RecordError(.stale, "the file is not open")
        }
        return handle
    }

    /// Returns the handle with the number, or nil after its release.
    func open(_ number: HandleNumber) -> OpenHandle? { table.withLock { $0.handle(number) } }

    /// Returns the open large field of a handle. Returns nil for a handle of another file.
    func openAsset(_ number: HandleNumber) -> OpenAsset? {
        guard case .asset(let open)? = open(number)?.current else { return nil }
        return open
    }

    /// Returns the open record of a handle. Returns nil for a handle of another file.
    func openRecord(_ number: HandleNumber) -> OpenRecord? {
        guard case .record(let open)? = open(number)?.current else { return nil }
        return open
    }

    func remove(_ number: HandleNumber) -> OpenHandle? { table.withLock { $0.remove(number) } }

    /// Returns notices that make the kernel hand over the data that programs have written into
    /// mappings of open files. For each notice the kernel does so before it drops the pages.
    func pagesOfOpenFiles() -> [KernelNotice] {
        let numbers = all.filter(\.canWrite).compactMap { handle in
            handle.current.node.flatMap { nodes.number(of: $0) }
        }
        return Set(numbers).map { .content($0) }
    }

    /// Returns the handles that have the file open. All handles are searched, because renames of
    /// open files are rare.
    func all(on matches: (OpenHandle.Backing) -> Bool) -> [OpenHandle] {
        all.filter { matches($0.current) }
    }
}
