import FuseKit
import Glibc
import Synchronization

/// A directory of files in memory, with timeouts so long that only notification ends them.
///
/// What a file is called says how it behaves: `dropped` never answers a read, `later` keeps the
/// reply, `stream` is read past the page cache, `blocking` blocks its thread until the gate is open,
/// `disk` is read from a real file.
final class MemoryFileSystem: FileSystem {
    struct File {
        let node: NodeID
        var content: [UInt8]
        var attributes: [FileName: [UInt8]] = [:]
        var isLink = false
    }

    let log = CallLog()
    /// Opened by the call `go`.
    let gate = CallLog()
    /// Guards the files, by name.
    private let files = Mutex<[FileName: File]>([:])
    private let next = Mutex<UInt64>(2)
    let waiting = Mutex<[PendingReply<ReplyKind.Data>]>([])
    let pollers = Mutex<[PollHandle]>([])
    /// The open real file that `disk` shows.
    let descriptor = Mutex<Int32>(-1)
    private let opened: OpenedFile
    private let hour = 3600.0

    /// - Parameter opened: how every open is answered.
    init(
        _ contents: [String: String] = [:],
        opened: OpenedFile = OpenedFile(handle: FileHandle(7), keepCache: true)
    ) {
        self.opened = opened
        for (name, content) in contents { set(name, content) }
    }

    /// - Parameter files: the number of its empty files, `file-0` and so on.
    convenience init(files: Int) {
        self.init()
        for number in 0..<files { set("file-\(number)", "") }
    }

    /// Makes or changes a file behind the kernel's back.
    func set(_ name: String, _ content: String) {
        let bytes = Array(content.utf8)
        let new = NodeID(number())
        files.withLock { $0[FileName(name), default: File(node: new, content: [])].content = bytes }
    }

    func remove(_ name: String) { files.withLock { $0[FileName(name)] = nil } }

    func node(_ name: String) -> NodeID {
        files.withLock { $0[FileName(name)]?.node } ?? NodeID(0)
    }

    func content(_ name: String) -> String? {
        files.withLock { files in
            files[FileName(name)].map { String(decoding: $0.content, as: UTF8.self) }
        }
    }

    private func number() -> UInt64 {
        next.withLock { next in
            next += 1
            return next
        }
    }

    private func find(_ node: NodeID) -> (name: FileName, file: File)? {
        files.withLock { files in
            files.first { $0.value.node == node }.map { ($0.key, $0.value) }
        }
    }

    private func attributes(_ node: NodeID, _ size: Int, isLink: Bool = false) -> FileAttributes {
        let isRoot = node == .root
        let type = isRoot ? S_IFDIR : isLink ? S_IFLNK : S_IFREG
        return FileAttributes(
            inode: node.rawValue, mode: type | (isRoot ? 0o755 : 0o644), uid: getuid(),
            gid: getgid(), size: Int64(size), time: Time(seconds: 1_000_000_000))
    }

    private func attributes(_ node: NodeID) -> FileAttributes {
        let file = find(node)?.file
        return attributes(node, file?.content.count ?? 0, isLink: file?.isLink ?? false)
    }

    private func entry(_ file: File) -> LookupEntry {
        LookupEntry(
            node: file.node,
            attributes: attributes(file.node, file.content.count, isLink: file.isLink),
            entryTimeout: hour, attributeTimeout: hour)
    }

    // MARK: Names

    func initialize(_ connection: inout Connection) {
        log.add("initialize \(connection.maxWrite)")
    }

    func destroy() {
        log.add("destroy")
        // Dropped replies are answered.
        waiting.withLock { $0 = [] }
    }

    func lookup(parent: NodeID, name: FileName, reply: consuming EntryReply) {
        log.add("lookup \(name)")
        guard let file = files.withLock({ $0[name] }) else {
            return reply.sendNegative(timeout: hour)
        }
        reply.send(entry(file))
    }

    func forget(node: NodeID, count: UInt64) { log.add("forget \(node.rawValue) \(count)") }

    func getattr(node: NodeID, handle: FileHandle?, reply: consuming AttributeReply) {
        log.add("getattr")
        reply.send(attributes(node), timeout: hour)
    }

    func setattr(
        node: NodeID, changes: AttributeChanges, handle: FileHandle?,
        reply: consuming AttributeReply
    ) {
        log.add(changes.size.map { "setattr size \($0)" } ?? "setattr")
        if changes.modificationTime == .now { log.add("setattr now") }
        if case .set(let time) = changes.modificationTime { log.add("setattr \(time.seconds)") }
        reply.send(attributes(node), timeout: hour)
    }

    func symlink(
        target: [UInt8], parent: NodeID, name: FileName, reply: consuming EntryReply
    ) {
        let file = File(node: NodeID(number()), content: target, isLink: true)
        files.withLock { $0[name] = file }
        reply.send(entry(file))
    }

    func readlink(node: NodeID, reply: consuming LinkReply) {
        guard let file = find(node)?.file, file.isLink else { return reply.fail(.EINVAL) }
        reply.send(file.content)
    }

    func statfs(node: NodeID, reply: consuming StatisticsReply) {
        var statistics = FileSystemStatistics()
        statistics.blocks = 1000
        statistics.freeBlocks = 300
        statistics.availableBlocks = 200
        statistics.files = 50
        statistics.freeFiles = 40
        reply.send(statistics)
    }

    func unlink(parent: NodeID, name: FileName, reply: consuming EmptyReply) {
        log.add("unlink \(name)")
        guard files.withLock({ $0.removeValue(forKey: name) }) != nil else {
            return reply.fail(.ENOENT)
        }
        reply.send()
    }

    func rename(
        parent: NodeID, name: FileName, newParent: NodeID, newName: FileName, flags: RenameFlags,
        reply: consuming EmptyReply
    ) {
        log.add("rename \(name) \(newName) \(flags.rawValue)")
        let error: Errno? = files.withLock { files in
            guard let file = files[name] else { return .ENOENT }
            if flags.contains(.noReplace), files[newName] != nil { return .EEXIST }
            files[name] = flags.contains(.exchange) ? files[newName] : nil
            files[newName] = file
            return nil
        }
        guard let error else { return reply.send() }
        reply.fail(error)
    }

    // MARK: Open files

    func open(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        let name = find(node)?.name
        log.add("open \(name?.description ?? "?")\(flags.truncates ? " truncates" : "")")
        if let name, flags.truncates { files.withLock { $0[name]?.content = [] } }
        var opened = opened
        if name == FileName("stream") {
            opened.directIO = true
            opened.keepCache = false
        }
        reply.send(opened)
    }

    func create(
        parent: NodeID, name: FileName, mode: UInt32, flags: OpenFlags,
        reply: consuming CreateReply
    ) {
        log.add("create \(name) \(String(mode & 0o7777, radix: 8))")
        let file = File(node: NodeID(number()), content: [])
        files.withLock { $0[name] = file }
        reply.send(entry(file), opened)
    }

    func read(node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DataReply) {
        guard let (name, file) = find(node) else { return reply.fail(.ENOENT) }
        switch name.description {
        case "dropped": log.add("read dropped")
        case "later", "stream":
            guard offset == 0 else { return reply.send([]) }
            let pending = PendingReply(reply) { [log] in log.add("interrupted") }
            waiting.withLock { $0.append(pending) }
            log.add("read \(name)")
        case "blocking":
            log.add("read blocking")
            _ = gate.waits(for: "go")
            reply.send(file.content, from: offset)
        case "disk": reply.send(descriptor: descriptor.withLock { $0 }, offset: offset)
        default:
            log.add("read \(name)")
            reply.send(file.content, from: offset)
        }
    }

    func write(
        node: NodeID, handle: FileHandle, offset: Int64, data: UnsafeRawBufferPointer,
        isWriteback: Bool, reply: consuming WriteReply
    ) {
        log.add("write \(data.count)")
        guard let name = find(node)?.name else { return reply.fail(.ENOENT) }
        files.withLock { files in
            var content = files[name]?.content ?? []
            let start = Int(offset)
            let missing = start + data.count - content.count
            if missing > 0 { content += [UInt8](repeating: 0, count: missing) }
            content.replaceSubrange(start..<start + data.count, with: data)
            files[name]?.content = content
        }
        reply.send(count: data.count)
    }

    func flush(
        node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply
    ) {
        log.add("flush \(handle.rawValue)")
        reply.send()
    }

    func release(
        node: NodeID, handle: FileHandle, flags: OpenFlags, reply: consuming EmptyReply
    ) {
        log.add("release")
        reply.send()
    }

    func fallocate(
        node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) {
        log.add("fallocate \(mode) \(offset) \(length)")
        reply.send()
    }

    func fsync(
        node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        log.add("fsync \(dataOnly)")
        if find(node)?.name == FileName("blocking") { _ = gate.waits(for: "go") }
        reply.fail(.ENOSPC)
    }

    func lseek(
        node: NodeID, handle: FileHandle, offset: Int64, whence: Int32, reply: consuming SeekReply
    ) {
        log.add("lseek \(offset) \(whence)")
        reply.send(offset: 3)
    }

    func poll(
        node: NodeID, handle: FileHandle, events: UInt32, wakeup: PollHandle?,
        reply: consuming PollReply
    ) {
        let ready = find(node)?.file.content.isEmpty == false
        if let wakeup { pollers.withLock { $0.append(wakeup) } }
        reply.send(events: ready ? events & UInt32(POLLIN) : 0)
        log.add("poll")
    }

    // MARK: Listings; a file's cursor is its node number, so it outlives its neighbours

    func opendir(node: NodeID, flags: OpenFlags, reply: consuming OpenReply) {
        reply.send(OpenedFile(handle: FileHandle(0), keepCache: true, cacheReaddir: true))
    }

    private func listing(after offset: Int64) -> [(FileName, File)] {
        files.withLock { files in
            files.filter { $0.value.node.rawValue > offset }.map { ($0.key, $0.value) }
                .sorted { $0.1.node.rawValue < $1.1.node.rawValue }
        }
    }

    func readdir(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) {
        log.add("readdir")
        for (name, file) in listing(after: offset) {
            let cursor = Int64(file.node.rawValue)
            guard
                reply.add(
                    name: name, inode: file.node.rawValue, mode: S_IFREG, nextOffset: cursor)
            else { break }
        }
        reply.send()
    }

    func readdirplus(
        node: NodeID, handle: FileHandle, offset: Int64, reply: consuming DirectoryReply
    ) {
        log.add("readdirplus")
        for (name, file) in listing(after: offset) {
            let cursor = Int64(file.node.rawValue)
            guard reply.addPlus(name: name, entry: entry(file), nextOffset: cursor) else { break }
        }
        reply.send()
    }

    // MARK: Extended attributes

    func setxattr(
        node: NodeID, name: FileName, value: UnsafeRawBufferPointer,
        flags: ExtendedAttributeFlags, reply: consuming EmptyReply
    ) {
        guard let file = find(node)?.name else { return reply.fail(.ENOENT) }
        files.withLock { $0[file]?.attributes[name] = Array(value) }
        log.add("setxattr \(flags.rawValue)")
        reply.send()
    }

    func getxattr(node: NodeID, name: FileName, reply: consuming ExtendedAttributeReply) {
        guard let value = find(node)?.file.attributes[name] else { return reply.fail(.ENODATA) }
        reply.send(value)
    }

    func listxattr(node: NodeID, reply: consuming ExtendedAttributeReply) {
        reply.send(
            names: find(node)?.file.attributes.keys.sorted { $0.bytes.count < $1.bytes.count } ?? []
        )
    }

    func removexattr(node: NodeID, name: FileName, reply: consuming EmptyReply) {
        guard let file = find(node)?.name else { return reply.fail(.ENOENT) }
        let old = files.withLock { $0[file]?.attributes.removeValue(forKey: name) }
        guard old != nil else { return reply.fail(.ENODATA) }
        reply.send()
    }
}
